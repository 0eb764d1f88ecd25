import asyncio, time, shutil, tracemalloc, resource, os
import pytest
from longjudge_tui.past.screen import PastScreen

def rss():
    return int(__import__("pathlib").Path("/proc/self/statm").read_text().split()[1])*4096/1e6

class Beat:
    def __init__(self): self.worst=0; self.gaps=[]; 
    async def run(self):
        last=time.perf_counter()
        while True:
            await asyncio.sleep(0.005)
            now=time.perf_counter(); g=now-last-0.005; last=now
            self.gaps.append((g,now))
    def report(self,t0,t1):
        gs=sorted((g for g,t in self.gaps if t0<=t<=t1+0.2),reverse=True)[:6]
        return [f"{1000*g:.0f}" for g in gs]

async def test_big(open_desk, write_session, tmp_path):
    path = write_session("long.jsonl", 30, (24,))
    os.symlink("/tmp/r6/big.db", tmp_path/"store.sqlite")
    async with open_desk(path) as desk:
        await desk.until(lambda: desk.bench.session is not None)
        beat=Beat(); task=asyncio.create_task(beat.run())
        async def wait(c, what, n=600):
            t0=time.perf_counter()
            while not c():
                await asyncio.sleep(0.01)
                if time.perf_counter()-t0>120: print("TIMEOUT",what); break
            t1=time.perf_counter()
            print(f"{what}: {t1-t0:.2f}s stalls ms {beat.report(t0,t1)} rss {rss():.0f}")
        print("start rss", rss())
        t=time.perf_counter(); await desk.press("J"); print("press J", time.perf_counter()-t)
        await wait(lambda: isinstance(desk.app.screen, PastScreen), "screen")
        scr=desk.app.screen
        t=time.perf_counter(); await desk.press("2"); print("press 2", time.perf_counter()-t)
        await wait(lambda: len(scr.lines._entries)>0, "first rows")
        await wait(lambda: len(scr._archive.all.entries)>5000, "5000 rows")
        t=time.perf_counter(); await desk.press("down"); print("press down", time.perf_counter()-t)
        t=time.perf_counter(); await desk.press("3"); print("press 3", time.perf_counter()-t)
        await wait(lambda: len(scr.lines._groups)>0, "groups")
        t=time.perf_counter(); await desk.press("2"); print("press 2", time.perf_counter()-t)
        t=time.perf_counter(); await desk.press("slash",*"cancelled"); print("press filter", time.perf_counter()-t)
        t=time.perf_counter(); await desk.press("escape","o"); print("press o", time.perf_counter()-t)
        await wait(lambda: scr._archive.whole, "whole")
        await wait(lambda: not scr.lines.rows.stale and not scr._arranging, "settled")
        for k in ("o","o","3","4","2","end","home"):
            t=time.perf_counter(); await desk.press(k); t1=time.perf_counter(); 
            await wait(lambda: not scr.lines.rows.stale and not scr._arranging, f"key {k} {t1-t:.3f}")
        t=time.perf_counter(); await desk.press("slash",*"2026-"); print("press filter", time.perf_counter()-t)
        await wait(lambda: not scr.lines.rows.stale and not scr._arranging, "filter date")
        t=time.perf_counter(); await desk.press("escape"); print("esc", time.perf_counter()-t)
        await wait(lambda: not scr.lines.rows.stale and not scr._arranging, "unfilter")
        print(len(scr.lines._entries), scr._archive.total)
        t=time.perf_counter(); await desk.press("escape"); print("esc", time.perf_counter()-t)
        task.cancel()
        gs=sorted((g for g,t in beat.gaps),reverse=True)[:10]; print("ALL", [f"{1000*g:.0f}" for g in gs])
