"""Algorithms other than minimising and descending, by name and public numbers: ``"heavy-ball:0.5"``."""

from dataclasses import dataclass

from ..errors import InvalidParameter

# Every name with how its numbers are written: after a colon, with a slash between them.
METHODS = {
    "heavy-ball": ":MOMENTUM",
    "nesterov": ":MOMENTUM",
    "multi-task": ":SIZE/SIZE/...",
    "ranking": " or ranking:SIZE/SIZE/...",
    "graph-convolution": ":DEGREE",
    "bagging": ":PARTS or bagging:PARTS/NUMBERS",
    "bootstrap": ":BAGS/MOST",
    "batch-norm": "",
    "dropout-net": "",
    "swapout": "",
    "entropy-sgd": "",
}
# Algorithms of [000]'s tables that are asked for elsewhere, and where.
ENDED = "leave method out and pass the tolerance at which it ends; eq.release_solution releases its weights (A4)"
PENALISED = 'leave method out and use the penalty "bridge:1.5" or "elastic-net:0.5"'
ELSEWHERE = dict.fromkeys(("svrg", "coordinate-descent"), ENDED) | dict.fromkeys(("bridge", "elastic-net"), PENALISED)
ELSEWHERE["sgld"] = 'leave method out: NoisySGDClassifier and NoisySGDRegressor take step="langevin:B" (C3)'
# Those whose number is no count: a momentum in [0, 1].
MOMENTA = ("heavy-ball", "nesterov")


@dataclass(frozen=True, slots=True)
class Method:
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
    if name not in METHODS:
        remedy = ELSEWHERE.get(name, f"leave it out, or choose one of {', '.join(METHODS)}")
        raise InvalidParameter("the name of a method", f"method={text!r:.80}", remedy)
    remedy = f"write {name}{METHODS[name]}"
    try:
        numbers = tuple(float(number) for number in rest.split("/")) if colon else ()
    except ValueError:
        raise InvalidParameter(f"the public numbers of {name}", f"method={text!r:.80}", remedy) from None
    if not _fit(name, numbers):
        raise InvalidParameter(f"the public numbers of {name}", f"method={text!r:.80}", remedy)
    return Method(name, numbers)


def _fit(name: str, numbers: tuple[float, ...]) -> bool:
    if name in MOMENTA:
        return len(numbers) == 1 and 0 <= numbers[0] <= 1
    if not all(1 <= number <= 1e15 and number == int(number) for number in numbers):
        return False
    if name == "bootstrap":
        # So many bags of n draws among n rows draw some row as often as there are bags.
        return len(numbers) == 2 and numbers[1] >= numbers[0]
    wanted = {"multi-task": len(numbers) >= 1, "ranking": len(numbers) != 1, "graph-convolution": len(numbers) == 1}
    return wanted.get(name, len(numbers) in (1, 2) if name == "bagging" else not numbers)
