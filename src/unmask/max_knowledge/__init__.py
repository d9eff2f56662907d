"""COMPARE: does an intruder who knows everything link any better than one who knows nothing?"""

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
