"""Reading ahead: the next batch is decoded while the arithmetic works on this one."""

import contextvars
import queue
import threading
from collections.abc import Iterator
from typing import TypeVar

Item = TypeVar("Item")

# Batches that wait: one is enough where reading is the slower part, and each takes memory.
WAITING = 1


def ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the same items, fetched by a thread of their own; whoever stops early stops the thread as well.

    Examples
    --------
    >>> list(ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    waiting: queue.Queue[tuple[str, Item | BaseException | None]] = queue.Queue(WAITING)
    stopped = threading.Event()

    def put(what: str, item: Item | BaseException | None) -> bool:
        while not stopped.is_set():
            try:
                waiting.put((what, item), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def fetch() -> None:
        try:
            for item in items:
                if not put("item", item):
                    break
            else:
                put("end", None)
        except BaseException as error:  # it is raised where the items are used
            put("error", error)
        finally:
            if (close := getattr(items, "close", None)) is not None:
                close()

    # What is said about warnings and rounding here holds there as well.
    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(fetch,), name="equipoise-reads-ahead", daemon=True)
    thread.start()
    try:
        while True:
            what, item = waiting.get()
            if what == "item":
                yield item  # type: ignore[misc] # an item, by its mark
            elif what == "error":
                raise item  # type: ignore[misc] # an exception, by its mark
            else:
                return
    finally:
        stopped.set()
        thread.join()
