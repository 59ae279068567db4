import threading

import pytest

from polyladder.training.interrupt import check_interrupt, run_until


def test_without_a_task_nothing_is_interrupted() -> None:
    check_interrupt()
    assert run_until(threading.Event(), lambda: check_interrupt() or 7) == 7


def test_a_task_ends_at_its_next_question() -> None:
    stop, asked = threading.Event(), []

    def task() -> None:
        for step in range(5):
            asked.append(step)
            if step == 2:
                stop.set()
            check_interrupt()

    with pytest.raises(KeyboardInterrupt):
        run_until(stop, task)
    assert asked == [0, 1, 2]
    # The stop belonged to the task alone, whatever ended it.
    check_interrupt()


def test_an_error_of_the_task_comes_through_and_leaves_no_stop_behind() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(ZeroDivisionError):
        run_until(stop, lambda: 1 / 0)
    check_interrupt()


def test_only_the_thread_of_the_task_hears_of_it() -> None:
    stop, ready, outcome = threading.Event(), threading.Event(), []

    def task() -> None:
        ready.set()
        stop.wait(5)
        check_interrupt()

    def work() -> None:
        try:
            run_until(stop, task)
        except KeyboardInterrupt:
            outcome.append("interrupted")

    worker = threading.Thread(target=work)
    worker.start()
    ready.wait(5)
    stop.set()
    check_interrupt()
    worker.join(5)
    assert outcome == ["interrupted"]
