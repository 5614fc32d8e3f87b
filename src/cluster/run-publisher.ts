import { setFlagsFromString } from 'node:v8'
import type { PublishedKindName } from '../api/kinds/published-kinds.ts'
import { systemClock } from '../base/clock.ts'
import { ControllerManager, publishers, slim } from '../controllers/index.ts'
import { type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunPublisherOptions extends PartOptions {
  /** Plural names of kinds. */
  kinds: readonly PublishedKindName[]
  /** Plural names of the kinds that have companions. */
  companions: readonly PublishedKindName[]
  writesPerSecond: number
}

/** Publishes the conditions of workloads that another controller manager owns, against an API server that need not be there yet. */
export function runPublisher(options: RunPublisherOptions): Promise<RunningPart> {
  const { kinds, companions, writesPerSecond, gates } = options
  // Little is kept of what is read: space that grows with what is dropped would be most of the memory of this process.
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--heap-growing-percent=30')
  const controllers = publishers({ kinds, companions, writesPerSecond, clock: systemClock })
  return runPart('publisher', options, ({ access: _, about, ...tools }) => {
    Object.assign(about, { kinds, companions })
    return new ControllerManager({ ...tools, controllers, gates, informers: { transform: slim } })
  })
}
