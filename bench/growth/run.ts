import { pause } from '../load/server.ts'
import type { Api } from './api.ts'
import type { Images } from './kinds.ts'
import type { Limit } from './limit.ts'
import { Meter } from './meter.ts'
import { type Load, LoadRun, type PhaseName, phaseNames } from './phases.ts'
import type { Probe } from './probe.ts'
import type { Report } from './report.ts'

/** The cluster that a load is measured on. */
export interface Subject {
  api: Api
  namespace: string
  images: Images
  /** The processes under test, where they are known and of this machine. */
  pids: readonly number[]
  probe: Probe | undefined
  /** Rejects if the processes under test end. */
  broken: Promise<never>
}

/** The time limit, and a callback. */
export interface Bounds {
  limit: Limit
  report: Report
  /** Gets the JSON lines. */
  tell(line: string): void
  /** After a phase events and the like are still written: they are not the next one's. Default: 500. */
  restMs?: number
}

/**
 * Runs the phases of one load and tells each figure as a JSON line. A phase that is out of time ends the load, since
 * those after it would find another state. Answers whether all phases came to their end.
 */
export async function runLoad(load: Load, names: readonly PhaseName[], on: Subject, bounds: Bounds): Promise<boolean> {
  const { api, namespace, images, pids, probe, broken } = on
  const { limit, report, tell, restMs = 500 } = bounds
  const run = await LoadRun.open(load, { api, namespace, images, limit })
  const meter = new Meter(api, pids, probe)
  try {
    for (const name of phaseNames.filter((n) => names.includes(n))) {
      const phase = await run.phase(name)
      if (!phase) continue
      const measured = await meter.measure(phase, broken)
      phase.close()
      for (const figure of report.add(load, name, measured)) tell(JSON.stringify(figure))
      if (measured.stopped !== undefined) return false
      await pause(restMs)
    }
    return true
  } catch (e) {
    // A failure between the phases: the server is gone, or does not respond.
    report.note(`${load.title}: stopped: ${e instanceof Error ? e.message : String(e)}`)
    return false
  } finally {
    run.close()
  }
}
