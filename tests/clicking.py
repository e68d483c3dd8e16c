"""A click on Run, and a control that is moved before the work is over."""

import asyncio


def run_then_move(experiment, control, value, seconds):
    """Move the control so many seconds after the click, and wait until the work has ended."""

    async def click_then_move():
        experiment.runner.run_button.click()
        await asyncio.sleep(seconds)
        control.value = value
        await experiment.runner.task

    asyncio.run(click_then_move())
    assert experiment.runner.status.value.startswith("stopped at")
