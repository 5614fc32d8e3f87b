import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestServer } from './server.ts'

/**
 * The kinds that a stock kube-controller-manager and a stock kube-scheduler of 1.36 list and watch with their default
 * controllers, plugins and feature gates: the informers of cmd/kube-controller-manager/app and of pkg/scheduler. The
 * garbage collector, the namespace and the quota controller go by discovery, and so through every kind besides.
 */
const kinds: Readonly<Record<string, { controllers?: string; scheduler?: string }>> = {
  v1: {
    controllers:
      'configmaps endpoints events namespaces nodes persistentvolumeclaims persistentvolumes pods ' +
      'replicationcontrollers resourcequotas secrets serviceaccounts services',
    scheduler:
      'configmaps namespaces nodes persistentvolumeclaims persistentvolumes pods replicationcontrollers services',
  },
  'admissionregistration.k8s.io/v1': { controllers: 'validatingadmissionpolicies' },
  'apps/v1': {
    controllers: 'controllerrevisions daemonsets deployments replicasets statefulsets',
    scheduler: 'replicasets statefulsets',
  },
  'autoscaling/v2': { controllers: 'horizontalpodautoscalers' },
  'batch/v1': { controllers: 'cronjobs jobs' },
  'certificates.k8s.io/v1': { controllers: 'certificatesigningrequests' },
  'coordination.k8s.io/v1': { controllers: 'leases', scheduler: 'leases' },
  'discovery.k8s.io/v1': { controllers: 'endpointslices' },
  'networking.k8s.io/v1': { controllers: 'ipaddresses servicecidrs' },
  'policy/v1': { controllers: 'poddisruptionbudgets', scheduler: 'poddisruptionbudgets' },
  'rbac.authorization.k8s.io/v1': { controllers: 'clusterroles' },
  'resource.k8s.io/v1': {
    controllers: 'deviceclasses resourceclaims resourceclaimtemplates resourceslices',
    scheduler: 'deviceclasses resourceclaims resourceslices',
  },
  'storage.k8s.io/v1': {
    controllers: 'csidrivers csinodes storageclasses volumeattachments volumeattributesclasses',
    scheduler: 'csidrivers csinodes csistoragecapacities storageclasses volumeattachments',
  },
}

/** Kinds that are worked out when they are asked for, as in Kubernetes: nobody can watch them. */
const computed = new Set(['metrics.k8s.io/v1beta1 nodes', 'metrics.k8s.io/v1beta1 pods', 'v1 componentstatuses'])

const listed = (part: 'controllers' | 'scheduler') =>
  Object.entries(kinds).flatMap(([apiVersion, parts]) =>
    (parts[part] ?? '').split(' ').filter((plural) => plural !== '').map((plural) => [apiVersion, plural] as const))

const rootOf = (apiVersion: string) => (apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`)

/** As client-go's reflector asks for what there is and for changes, in one request. */
const watchList = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

let server: TestServer

beforeAll(async () => {
  server = await TestServer.start()
})

afterAll(() => server.close())

const parts = [['kube-controller-manager', 'controllers'], ['kube-scheduler', 'scheduler']] as const

describe.each(parts)('%s finds', (_, part) => {
  const rows = listed(part).map(([apiVersion, plural]) => ({ apiVersion, plural, name: `${apiVersion} ${plural}` }))

  it.each(rows)('$name, which it can list and watch', async (row) => {
    const { apiVersion, plural } = row
    const discovered = await server.get(rootOf(apiVersion))
    const entry = discovered.body.resources.find(({ name }: { name: string }) => name === plural)
    expect(entry?.verbs).toEqual(expect.arrayContaining(['get', 'list', 'watch']))
    const list = await server.get(`${rootOf(apiVersion)}/${plural}?limit=500&resourceVersion=0`)
    expect([list.code, list.body.kind]).toEqual([200, `${entry.kind}List`])
    const watch = await server.watch(`${rootOf(apiVersion)}/${plural}?${watchList}`)
    const lines = await watch.take()
    expect(lines.at(-1)).toMatchObject({ type: 'BOOKMARK', object: { kind: entry.kind } })
    expect(lines.slice(0, -1).map(({ type }) => type).filter((type) => type !== 'ADDED')).toEqual([])
  })
})

describe('controllers that go by discovery find', () => {
  it('that every kind that can be listed can be watched, too', async () => {
    const { body } = await server.get('/apis')
    const versions: string[] = body.groups.flatMap((group: { versions: { groupVersion: string }[] }) =>
      group.versions.map(({ groupVersion }) => groupVersion))
    const found: string[] = []
    for (const apiVersion of ['v1', ...versions]) {
      const list = await server.get(rootOf(apiVersion))
      for (const { name, verbs } of list.body.resources as { name: string; verbs: string[] }[]) {
        if (verbs.includes('list') && !verbs.includes('watch')) found.push(`${apiVersion} ${name}`)
      }
    }
    expect(found.filter((name) => !computed.has(name))).toEqual([])
  })
})
