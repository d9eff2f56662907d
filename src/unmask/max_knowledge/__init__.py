"""COMPARE: does an intruder who knows everything link any better than one who knows nothing?

The intruder holds every original record and asks how near the release is to each. A `DeniabilityTest` holds these
distances against those of records that were never there (`dictionary_test`) or of a release that has nothing to do with
them (`permuted_test`); an `AttributeTest` asks the same about one confidential attribute.
"""

from unmask.max_knowledge.attribute_test import AttributeTest, attribute_test, attribute_tests
from unmask.max_knowledge.dictionary import dictionary_test
from unmask.max_knowledge.permuted import permuted_test
from unmask.max_knowledge.result import DeniabilityTest

__all__ = [
    "AttributeTest",
    "DeniabilityTest",
    "attribute_test",
    "attribute_tests",
    "dictionary_test",
    "permuted_test",
]
