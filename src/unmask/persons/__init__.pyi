from unmask.persons.evidence import report_persons as report_persons
from unmask.persons.persons import Persons as Persons
from unmask.persons.points import Unicity as Unicity
from unmask.persons.points import unicity as unicity
from unmask.persons.risk import PersonsRisk as PersonsRisk
from unmask.persons.risk import persons_risk as persons_risk
