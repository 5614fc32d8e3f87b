import type { Pod } from '../../api/generated/types.ts'
import { ApiError } from '../../api/errors.ts'
import { sandboxConditionOf } from '../../api/kinds/pods/sandbox-condition.ts'
import { millisecondsOf } from '../../api/object.ts'
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
export async function objectivesPage(viewer: Viewer, caches: Caches) {
  const report = viewer.client.transport
    .send<{ at: string; slos: unknown[] }>({ method: 'GET', path: '/slo' })
    .catch((e: unknown) => {
      // A server without objectives does not serve the path.
      if (e instanceof ApiError && e.code === 404) return { at: '', slos: [] }
      throw e
    })
  const maySeeAll = await viewer.may({ verb: 'list', group: '', resource: 'pods' })
  return { ...(await report), slowest: maySeeAll ? slowest(caches.pods.list()) : null }
}

/** Returns the seconds from binding to sandbox readiness by pod, longest first. */
function slowest(pods: readonly Pod[]) {
  const timed = pods.flatMap((pod) => {
    const ready = sandboxConditionOf(pod)
    const bound = pod.status?.conditions?.find(({ type }) => type === 'PodScheduled')
    const ms = millisecondsOf(ready?.lastTransitionTime) - millisecondsOf(bound?.lastTransitionTime)
    return ready?.status !== 'True' || bound?.status !== 'True' || Number.isNaN(ms) || ms < 0
      ? []
      : [
          {
            namespace: pod.metadata.namespace ?? '',
            name: pod.metadata.name ?? '',
            node: pod.spec?.nodeName ?? '',
            seconds: ms / 1000,
          },
        ]
  })
  return timed.toSorted((a, b) => b.seconds - a.seconds).slice(0, slowestShown)
}
