"""Algorithms other than minimising and descending, by name and public numbers: ``"heavy-ball:0.5"``."""

from ..errors import InvalidParameter
from .records import Record

# Every name with how its numbers are written, after a colon with a slash between them, and how many there may be.
FORMS = {
    "heavy-ball": (":MOMENTUM", (1, 1)),
    "nesterov": (":MOMENTUM", (1, 1)),
    "multi-task": (":SIZE/SIZE/...", (1, 10**6)),
    "ranking": (" or ranking:SIZE/SIZE/...", (0, 10**6)),
    "graph-convolution": (":DEGREE", (1, 1)),
    "bagging": (":PARTS or bagging:PARTS/NUMBERS", (1, 2)),
    "bootstrap": (":BAGS/MOST", (2, 2)),
} | dict.fromkeys(("batch-norm", "dropout-net", "swapout", "entropy-sgd"), ("", (0, 0)))
# Algorithms of [000]'s tables that are asked for elsewhere, and where.
ENDED = "leave method out and pass the tolerance at which it ends; eq.release_solution releases its weights (A4)"
PENALISED = 'leave method out and use the penalty "bridge:1.5" or "elastic-net:0.5"'
LANGEVIN = 'leave method out: NoisySGDClassifier and NoisySGDRegressor take step="langevin:B" (C3)'
ELSEWHERE = dict.fromkeys(("svrg", "coordinate-descent"), ENDED) | {"sgld": LANGEVIN}
ELSEWHERE |= dict.fromkeys(("bridge", "elastic-net"), PENALISED)


class Method(Record):
    """An algorithm by its name, with its public numbers."""

    name: str
    numbers: tuple[float, ...] = ()

    @property
    def counts(self) -> tuple[int, ...]:
        """The numbers of a method that counts something."""
        return tuple(int(number) for number in self.numbers)


def method_named(text: str) -> Method:
    """Return the method that a text names.

    Examples
    --------
    >>> method_named("multi-task:40/25"), method_named("batch-norm").numbers
    (Method(name='multi-task', numbers=(40.0, 25.0)), ())
    """
    name, colon, rest = text.partition(":") if isinstance(text, str) else ("", "", "")
    if name not in FORMS:
        remedy = ELSEWHERE.get(name, f"leave it out, or choose one of {', '.join(FORMS)}")
        raise InvalidParameter("the name of a method", f"method={text!r:.80}", remedy)
    try:
        numbers = tuple(map(float, rest.split("/"))) if colon else ()
    except ValueError:
        numbers = (-1.0,)
    if not _fit(name, numbers):
        raise InvalidParameter(f"the public numbers of {name}", f"method={text!r:.80}", f"write {name}{FORMS[name][0]}")
    return Method(name, numbers)


def _fit(name: str, numbers: tuple[float, ...]) -> bool:
    least, most = FORMS[name][1]
    # Pairs need two classes. So many bags of n draws among n rows draw some row as often as there are bags.
    odd = {"ranking": len(numbers) == 1, "bootstrap": len(numbers) == 2 and numbers[1] < numbers[0]}.get(name, False)
    if odd or not least <= len(numbers) <= most:
        return False
    # A momentum is no count.
    if name in ("heavy-ball", "nesterov"):
        return 0 <= numbers[0] <= 1
    return all(1 <= number <= 1e15 and number == int(number) for number in numbers)
