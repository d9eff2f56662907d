"""COMPARE: does an intruder who knows everything link any better than one who knows nothing?"""

from unmask.deniability.attribute import AttributeTest, attribute_test, attribute_tests
from unmask.deniability.dictionary import dictionary_test
from unmask.deniability.permuted import permuted_test
from unmask.deniability.result import DeniabilityTest

__all__ = [
    "AttributeTest",
    "DeniabilityTest",
    "attribute_test",
    "attribute_tests",
    "dictionary_test",
    "permuted_test",
]
