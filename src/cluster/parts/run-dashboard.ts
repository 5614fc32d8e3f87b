import { systemClock } from '../../base/clock.ts'
import type { Logger } from '../../base/logger.ts'
import { systemRandom } from '../../base/random.ts'
import { type ClusterAccess, HttpTransport, pods } from '../../client/index.ts'
import { type RunningDashboard, openDashboard } from '../../dashboard/index.ts'

export interface RunDashboardOptions {
  /** Access from a kubeconfig. */
  access: ClusterAccess
  /** A single namespace. Default: all, or that of the kubeconfig's context if the user may not list pods in all. */
  namespace: string | undefined
  port: number
  logger: Logger
  release: string
}

/** Serves the dashboard for the cluster of a kubeconfig, with its user's permissions. */
export async function runDashboard({
  access,
  namespace,
  port,
  logger,
  release,
}: RunDashboardOptions): Promise<RunningDashboard> {
  const transport = new HttpTransport(access, {
    userAgent: `coxswain-dashboard/${release} (${process.platform}/${process.arch})`,
  })
  const shown = namespace ?? ((await mayListAllPods(transport)) ? '' : access.namespace)
  const dashboard = await openDashboard({
    access: async () => access,
    transport,
    namespace: shown,
    port,
    clock: systemClock,
    random: systemRandom,
    logger,
    release,
  })
  return {
    ...dashboard,
    async close() {
      await dashboard.close()
      await transport.close()
    },
  }
}

async function mayListAllPods(transport: HttpTransport): Promise<boolean> {
  const answer = await transport.send<{ status?: { allowed?: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      metadata: {},
      spec: { resourceAttributes: { verb: 'list', group: pods.group, resource: pods.plural } },
    },
  })
  return answer.status?.allowed === true
}
