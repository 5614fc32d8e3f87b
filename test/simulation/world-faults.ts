import type { Faults } from './faults.ts'
import type { Process } from './process.ts'
import type { WorldFaults } from './profile.ts'
import type { WatchLink } from './watch-link.ts'
import type { World } from './world.ts'

/** The faults of a world. A fault without a target has no effect. */
export const worldFaults: Record<keyof WorldFaults, (world: World, faults: Faults) => void> = {
  breakWatch: onWatch((watch) => {
    watch.break()
    return 'breaks'
  }),

  freezeWatch: onWatch((watch) => {
    watch.freeze()
    return 'freezes'
  }),

  lagWatch: onWatch((watch, world, faults) => {
    const lagMs = faults.between(100, 10_000)
    watch.lag(lagMs)
    world.timeline.after(faults.between(1000, 30_000), () => watch.lag(0))
    return `lags by ${seconds(lagMs)}`
  }),

  crashManager(world, faults) {
    const manager = faults.pick(world.managers)
    if (manager.crash()) world.timeline.after(faults.between(10, 20_000), () => manager.start())
  },

  stopManager(world, faults) {
    const manager = faults.pick(world.managers)
    if (manager.stop()) world.timeline.after(faults.between(5000, 20_000), () => manager.restart())
  },

  pauseManager(world, faults) {
    const manager = faults.pick(world.managers)
    // Long enough to lose a lease, or shorter.
    const forMs = faults.isHeads() ? faults.between(100, 10_000) : faults.between(10_000, 60_000)
    if (manager.pause()) world.timeline.after(forMs, () => manager.resume(faults.isHeads()))
  },

  jumpManagerClock(world, faults) {
    const manager = faults.pick(world.managers)
    if (!manager.life?.process.isRunning) return
    jump(world, manager.life.process, manager.name, faults)
    manager.keepAwake(20_000)
  },

  crashServer(world, faults) {
    const node = world.anyNode(faults)
    if (!node.isUp) return
    node.crash()
    world.timeline.after(faults.between(10, 10_000), () => void node.start())
  },

  pauseServer(world, faults) {
    const { process } = world.anyNode(faults)
    if (!process?.isRunning) return
    // With several servers, a write also waits until its server has caught up.
    const forMs = faults.between(100, world.nodes.length > 1 ? 1000 : 2500)
    world.history.add(process.name, `is paused for ${seconds(forMs)}`)
    process.pause()
    world.timeline.after(forMs, () => process.resume(faults.isHeads()))
  },

  jumpServerClock(world, faults) {
    const { process } = world.anyNode(faults)
    if (process) jump(world, process, process.name, faults)
  },

  compact(world, faults) {
    const { revision, compactedRevision } = world.store
    const upTo = faults.isHeads() ? revision : Math.floor(faults.between(compactedRevision, revision + 1))
    world.history.add('store', `forgets everything up to revision ${upTo}`)
    void world.store.compact(upTo)
    // A watch that is behind and must resume gets 410.
    if (faults.isHeads()) worldFaults.breakWatch(world, faults)
  },

  touch(world, faults) {
    const objects = [...world.touchable.keys()].filter((p) => p !== 'leases').flatMap((plural) => world.truth.list(plural).map((object) => ({ plural, object })))
    if (objects.length === 0) return
    const { plural, object } = faults.pick(objects)
    void world.touch({ plural, namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' })
  },
}

function onWatch(act: (watch: WatchLink, world: World, faults: Faults) => string): (world: World, faults: Faults) => void {
  return (world, faults) => {
    const watches = [...world.network.watches]
    if (watches.length === 0) return
    const watch = faults.pick(watches)
    const what = act(watch, world, faults)
    world.history.add(watch.process.name, `its watch of ${watch.plural} ${what}`)
  }
}

/** Mostly a small change, as by time synchronization; rarely a large one, as by a user. */
function jump(world: World, process: Process, name: string, faults: Faults): void {
  const byMs = (faults.isHeads() ? 1 : -1) * (faults.between(0, 1) < 0.8 ? faults.between(100, 20_000) : faults.between(60_000, 3_600_000))
  world.history.add(name, `its clock jumps by ${seconds(byMs)}`)
  process.jumpClock(byMs)
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
