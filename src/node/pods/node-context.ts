import type { Pod } from '../../api/generated/types.ts'
import type { Clock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import type { Client } from '../../client/index.ts'
import type { EnvSources } from '../env/environment.ts'
import type { Place } from '../env/field-values.ts'
import type { ImageAccess } from '../images/image-access.ts'
import type { Prober } from '../probes/prober.ts'
import type { PodView } from '../runtime/pod-view.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Stages } from '../stages.ts'
import type { ReferencedObjects } from '../sources/referenced-objects.ts'
import type { StatusManager } from '../status/status-manager.ts'
import type { VolumeManager } from '../volumes/volume-manager.ts'
import type { BackOff } from './back-off.ts'
import type { PodContainer } from './containers.ts'
import type { NodeDns } from './config/pod-dns.ts'

/** The services that all pods of a node share. */
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
  /** The back-off between restarts of a crashing container. */
  crashes: BackOff
  /** The back-off between pulls of an image that fail. */
  pulls: BackOff
  /** The pods that may use images that are present. */
  imageAccess: ImageAccess
  /** The addresses and resources of the node. */
  place(): Omit<Place, 'podIps'>
  services(): EnvSources['services']
  /** The DNS settings of the node's pods. */
  dns: NodeDns
  tellsSandbox: boolean
  /** Frees the resources that were reserved for a pod. */
  left(uid: string): void
  event(pod: Pod, type: 'Normal' | 'Warning', reason: string, message: string, container?: PodContainer): void
}
