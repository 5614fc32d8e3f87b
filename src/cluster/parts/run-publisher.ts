import { setFlagsFromString } from 'node:v8'
import type { PublishedKindName } from '../../api/kinds/workloads/published-kinds.ts'
import { systemClock } from '../../base/clock.ts'
import { ControllerManager, publishers, slim, slimWithoutTemplates } from '../../controllers/index.ts'
import { type PartOptions, type RunningPart, runPart } from './run-part.ts'

export interface RunPublisherOptions extends PartOptions {
  /** Plural names of kinds. */
  kinds: readonly PublishedKindName[]
  /** Plural names of the kinds that have companions. */
  companions: readonly PublishedKindName[]
  writesPerSecond: number
}

/** Publishes the conditions of workloads that another controller manager owns. The API server may start later. */
export async function runPublisher(options: RunPublisherOptions): Promise<RunningPart> {
  const { kinds, companions, writesPerSecond, gates } = options
  // Most of what is read is discarded. A heap that grew with the garbage would be most of this process's memory.
  setFlagsFromString('--heap-growing-percent=30')
  const transform = companions.includes('deployments') ? slim : slimWithoutTemplates
  const controllers = publishers({ kinds, companions, writesPerSecond, clock: systemClock })
  const running = await runPart('publisher', options, ({ access: _, about, ...tools }) => {
    Object.assign(about, { kinds, companions })
    return new ControllerManager({ ...tools, controllers, gates, informers: { transform } })
  })
  return { ...running, isSmall: true }
}
