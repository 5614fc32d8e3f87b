import type { Pod } from '../../api/generated/types.ts'
import { ApiError } from '../../api/errors.ts'
import { sandboxConditionOf } from '../../api/kinds/pods/sandbox-condition.ts'
import { millisecondsOf } from '../../api/object.ts'
import type { Clock } from '../../base/clock.ts'
import { cachesOf, controllersOf } from '../../insight/metrics/controllers.ts'
import { parseMetrics } from '../../insight/metrics/parse.ts'
import type { Caches } from '../board/caches.ts'
import type { Viewer } from '../login/viewer.ts'

const slowestShown = 20

/** Returns queues and lag of the controllers in the API server's process; none if they run elsewhere. */
export async function controllersPage({ client }: Viewer) {
  const samples = parseMetrics(
    await client.transport.send<string>({ method: 'GET', path: '/metrics', accept: 'text/plain' }),
  )
  const isOurs = samples.has('controller_runtime_reconcile_total')
  return { controllers: isOurs ? controllersOf(samples) : [], caches: isOurs ? cachesOf(samples) : [] }
}

/** Returns the report of the monitor in the API server's process, and the slowest pod sandboxes. */
export async function objectivesPage(viewer: Viewer, caches: Caches, clock: Clock) {
  const report = viewer.client.transport
    .send<{ at: string; slos: unknown[] }>({ method: 'GET', path: '/slo' })
    .catch((e: unknown) => {
      // A server without objectives does not serve the path.
      if (e instanceof ApiError && e.code === 404) return { at: '', slos: [] }
      throw e
    })
  const maySeeAll = await viewer.may({ verb: 'list', group: '', resource: 'pods' })
  return { ...(await report), slowest: maySeeAll ? slowestOf(caches, clock) : null }
}

export interface SlowSandbox {
  namespace: string
  name: string
  node: string
  seconds: number
}

/** Slow sandboxes are determined again after this time, for all viewers. */
const slowestForMs = 5000
const known = new WeakMap<Caches, { atMs: number; slowest: SlowSandbox[] }>()

/** Returns the slowest sandboxes of all pods. */
function slowestOf(caches: Caches, clock: Clock): SlowSandbox[] {
  const nowMs = clock.now()
  let last = known.get(caches)
  if (!last || nowMs - last.atMs >= slowestForMs)
    known.set(caches, (last = { atMs: nowMs, slowest: slowestAmong(caches.pods.list()) }))
  return last.slowest
}

/** Returns the seconds from binding to the readiness of the first sandbox by pod, longest first. */
export function slowestAmong(pods: readonly Pod[]): SlowSandbox[] {
  const slowest: SlowSandbox[] = []
  for (const pod of pods) {
    const seconds = sandboxSecondsOf(pod)
    const last = slowest.at(-1)
    if (seconds === undefined || (slowest.length === slowestShown && seconds <= last!.seconds)) continue
    const { namespace = '', name = '' } = pod.metadata
    const at = slowest.findIndex((other) => other.seconds < seconds)
    slowest.splice(at < 0 ? slowest.length : at, 0, { namespace, name, node: pod.spec?.nodeName ?? '', seconds })
    slowest.length = Math.min(slowest.length, slowestShown)
  }
  return slowest
}

/**
 * Returns the seconds from binding to the readiness of a pod's first sandbox. Undefined without a ready sandbox, and for
 * a later one: the condition has the time of its last transition only.
 */
function sandboxSecondsOf(pod: Pod): number | undefined {
  const ready = sandboxConditionOf(pod)
  const bound = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
  if (ready?.status !== 'True' || bound?.status !== 'True') return undefined
  const readyMs = millisecondsOf(ready.lastTransitionTime)
  const ms = readyMs - millisecondsOf(bound.lastTransitionTime)
  if (Number.isNaN(ms) || ms < 0) return undefined
  // Containers start after the sandbox. One that ran before this sandbox was ready had an earlier one.
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {}
  const isLater = [...initContainerStatuses, ...containerStatuses].some(({ state, lastState }) =>
    [state?.running, state?.terminated, lastState?.terminated].some(
      (run) => run?.startedAt && millisecondsOf(run.startedAt) < readyMs,
    ),
  )
  return isLater ? undefined : ms / 1000
}
