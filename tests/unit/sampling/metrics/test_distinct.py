"""Values that occur, each once: as numpy's own says, without its masked arrays."""

from __future__ import annotations

import numpy as np
import pytest

from services.history.columns.distinct import distinct


@pytest.mark.parametrize("values", [[], [3], [2, 1, 2, 2, 0], [0, 0], [4_294_967_295, 0, 7]])
def test_that_distinct_values_are_those_that_numpy_finds(values: list[int]) -> None:
    given = np.array(values, dtype=np.uint32)
    found = distinct(given)
    assert found.dtype == given.dtype
    assert found.tolist() == np.unique(given).tolist()
