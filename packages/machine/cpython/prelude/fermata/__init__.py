"""What a program running in a Fermata machine can ask of its surroundings.

    tools.crm.create(title="...")       call a tool: blocks, or inside a running event loop returns an awaitable
    input                               the task's input
    step("load", fn)                    name a stretch of work; with fn, call it and record its result
    progress(0.4)                       how far the program is, from 0 to 1
    checkpoint()                        ask for a checkpoint here
    sleep(seconds)                      let time pass, for a month if need be
    review(value, reason)               a person confirms or edits the value; a rejection is an exception
"""
from fermata._private import builtins as __builtins__
from fermata import _calls, _steps
from fermata._tools import Tools, ToolError, UnknownToolError, review

__all__ = ["tools", "input", "step", "progress", "checkpoint", "sleep", "review", "ToolError", "UnknownToolError"]

tools = Tools()
input = None
step, progress, checkpoint, sleep = _steps.step, _steps.progress, _steps.checkpoint, _calls.sleep
