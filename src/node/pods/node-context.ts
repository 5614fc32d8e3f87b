import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Client } from '../../client/index.ts'
import type { EnvSources } from '../env/environment.ts'
import type { Place } from '../env/field-values.ts'
import type { Prober } from '../probes/prober.ts'
import type { PodView } from '../runtime/pod-view.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Stages } from '../stages.ts'
import type { ReferencedObjects } from '../sources/referenced-objects.ts'
import type { StatusManager } from '../status/status-manager.ts'
import type { VolumeManager } from '../volumes/volume-manager.ts'
import type { BackOff } from './back-off.ts'
import type { PodContainer } from './containers.ts'

/** What the pods of one node share. */
export interface NodeContext {
  nodeName: string
  clock: Clock
  logger: Logger
  client: Client
  runtime: Runtime
  view: PodView
  prober: Prober
  volumes: VolumeManager
  objects: ReferencedObjects
  status: StatusManager
  stages: Stages
  /** Between the starts of a container that crashes. */
  crashes: BackOff
  /** Between the pulls of an image that cannot be had. */
  pulls: BackOff
  /** What the node's addresses are, and what it has to give. */
  place(): Omit<Place, 'podIps'>
  services(): EnvSources['services']
  /** What containers ask for names, where the cluster has somebody who answers. */
  dns: { servers: readonly string[]; domain: string }
  tellsSandbox: boolean
  /** A pod takes up no more room. */
  left(uid: string): void
  event(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string, container?: PodContainer): void
}
