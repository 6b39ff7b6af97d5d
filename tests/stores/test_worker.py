import asyncio

from django.db import OperationalError

from stores import worker


def test_stories_continue_after_the_database_was_away(monkeypatch):
    monkeypatch.setattr(worker, "PAUSE_SECONDS", 0.0)
    looked: list[str] = []

    async def play() -> None:
        player = worker.StoryPlayer()
        playing = asyncio.current_task()
        loop = asyncio.get_running_loop()

        def due_stories() -> list[str]:
            looked.append("away" if not looked else "back")
            if looked == ["away"]:
                raise OperationalError("the connection is closed")
            loop.call_soon_threadsafe(playing.cancel)
            return []

        monkeypatch.setattr(worker, "due_stories", due_stories)
        try:
            await player.poll_due()
        except asyncio.CancelledError:
            await player.close()

    asyncio.run(play())

    assert looked == ["away", "back"]
