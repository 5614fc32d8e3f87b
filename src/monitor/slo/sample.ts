import { VirtualClock } from '../../base/virtual-clock.ts'
import type { SandboxObservation } from '../observation.ts'
import type { Slo } from './slo-file.ts'

/** An objective for tests: 99% in less than ten seconds, over 30 days. */
export const objective = (given: Partial<Slo> = {}): Slo => ({
  name: 'ready',
  indicator: 'creation-latency',
  objectivePercent: 99,
  thresholdMs: 10_000,
  windowMs: 30 * 24 * 3_600_000,
  selector: {},
  groupBy: [],
  maxGroups: 100,
  ...given,
})

/** A fact for tests: a sandbox that was ready after three seconds, at the start time of virtual clocks. */
export const fact = (given: Partial<SandboxObservation> = {}): SandboxObservation => ({
  kind: 'created',
  uid: 'u',
  namespace: 'default',
  name: 'web-0',
  atMs: new VirtualClock().now(),
  latencyMs: 3000,
  isLate: false,
  isUserError: false,
  labels: { namespace: 'default', runtime_class: '', storage_classes: '', volumes: '1' },
  ...given,
})
