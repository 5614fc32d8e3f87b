import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/object.ts'
import { keyPrefix } from '../../src/server/objects/stored-keys.ts'
import { type Store, openLmdbStore, openMemoryStore } from '../../src/store/index.ts'
import { oneOfEachKind } from '../kubectl/one-of-each-kind.ts'
import { type Options, TestServer } from './server.ts'

const labels = { app: 'a' }
const podSpec = {
  containers: [{
    name: 'main',
    image: 'nginx',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'Always',
  }],
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
}
const workload = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } }
const metadata = {
  name: 'old',
  namespace: 'default',
  uid: '11111111-1111-1111-1111-111111111111',
  generation: 3,
  creationTimestamp: '2025-01-01T00:00:00Z',
}

interface Row {
  kind: string
  apiVersion: string
  plural: string
  /** As an earlier release has stored it. */
  spec: object
  status: object
  annotations?: Record<string, string>
  /** Fields of the spec that it reads with. */
  shown: object
  /** Other versions that it is served in. */
  alsoAs?: { apiVersion: string; shown: object }[]
}

const noDeadline = 2147483647
const rolling = (rollingUpdate: object) => ({ type: 'RollingUpdate', rollingUpdate })
const cloneSetDefaults = { partition: 0, maxUnavailable: '20%', maxSurge: 0 }
const jobSpec = { template: { metadata: {}, spec: { ...podSpec, restartPolicy: 'Never' } } }

const rows: Row[] = [
  {
    kind: 'StatefulSet', apiVersion: 'apps/v1', plural: 'statefulsets',
    spec: { ...workload, replicas: 2, serviceName: 'a', updateStrategy: rolling({ partition: 0 }) },
    status: { replicas: 2, observedGeneration: 3, availableReplicas: 0 },
    shown: {
      progressDeadlineSeconds: noDeadline,
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Retain', whenScaled: 'Retain' },
      updateStrategy: rolling({ partition: 0, maxUnavailable: 1 }),
    },
  },
  {
    kind: 'DaemonSet', apiVersion: 'apps/v1', plural: 'daemonsets',
    spec: { ...workload, revisionHistoryLimit: 10, updateStrategy: rolling({ maxUnavailable: 1 }) },
    status: { currentNumberScheduled: 0, numberMisscheduled: 0, desiredNumberScheduled: 0, numberReady: 0 },
    annotations: { 'deprecated.daemonset.template.generation': '1' },
    shown: { progressDeadlineSeconds: noDeadline, updateStrategy: rolling({ maxUnavailable: 1, maxSurge: 0 }) },
  },
  {
    kind: 'Deployment', apiVersion: 'apps/v1', plural: 'deployments',
    spec: { ...workload, replicas: 2, strategy: rolling({ maxUnavailable: 1, maxSurge: 1 }) },
    status: { replicas: 2, observedGeneration: 3 },
    shown: { progressDeadlineSeconds: 600, revisionHistoryLimit: 10 },
  },
  {
    kind: 'CloneSet', apiVersion: 'apps.kruise.io/v1alpha1', plural: 'clonesets',
    spec: { ...workload, replicas: 2 },
    status: { replicas: 2, readyReplicas: 2, updatedReplicas: 2, updatedReadyReplicas: 2, availableReplicas: 2 },
    shown: { progressDeadlineSeconds: 600, updateStrategy: { type: 'ReCreate', ...cloneSetDefaults } },
    alsoAs: [
      {
        apiVersion: 'apps.kruise.io/v1beta1',
        shown: {
          progressDeadlineSeconds: 600,
          scaleStrategy: { enablePVCReuse: true },
          updateStrategy: rolling({ podUpdatePolicy: 'ReCreate', ...cloneSetDefaults }),
        },
      },
    ],
  },
  {
    kind: 'CronJob', apiVersion: 'batch/v1', plural: 'cronjobs',
    spec: { schedule: '0 3 * * *', jobTemplate: { metadata: {}, spec: jobSpec } },
    status: { lastScheduleTime: '2025-01-01T03:00:00Z' },
    shown: { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
  },
]

function storedAs({ kind, apiVersion, annotations, spec, status }: Row, name = 'old') {
  return { apiVersion, kind, metadata: { ...metadata, name, ...(annotations ? { annotations } : {}) }, spec, status }
}

const collection = (apiVersion: string, plural: string) => `/apis/${apiVersion}/namespaces/default/${plural}`

let dir: string | undefined
const drivers: { driver: string; open(): Promise<Store> }[] = [
  { driver: 'memory', open: async () => openMemoryStore() },
  { driver: 'lmdb', open: () => openLmdbStore({ dir: (dir = mkdtempSync(path.join(tmpdir(), 'coxswain-stored-'))) }) },
]

async function put(store: Store, key: string, object: object): Promise<number> {
  const result = await store.write({ key, expected: 0, value: Buffer.from(JSON.stringify(object)) })
  if (!result.ok) throw new Error(`${key} exists`)
  return result.revision
}

let server: TestServer

afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
  if (dir) rmSync(dir, { recursive: true })
  dir = undefined
})

describe.each(drivers)('in a store of $driver,', ({ open }) => {
  describe.each(rows)('a $kind that an earlier release has stored', (row) => {
    const all = collection(row.apiVersion, row.plural)
    const one = `${all}/old`
    let revision: number

    beforeEach(async () => {
      const store = await open()
      // A watch from revision 0 would begin anywhere.
      await put(store, '/before', {})
      revision = await put(store, `${keyPrefix(row.apiVersion.split('/')[0]!, row.plural)}default/old`, storedAs(row))
      server = await TestServer.start({ store })
    })

    const version = () => ({ generation: 3, resourceVersion: String(revision) })

    it('reads with the defaults of today, at the revision it was stored at', async () => {
      const asRead = { metadata: version(), spec: { ...row.spec, ...row.shown }, status: row.status }
      expect((await server.get(one)).body).toMatchObject(asRead)
      for (const query of ['', '?labelSelector=!none', `?resourceVersionMatch=Exact&resourceVersion=${revision}`]) {
        expect((await server.get(all + query)).body.items).toMatchObject([asRead])
      }
      for (const query of ['', `?resourceVersion=${revision - 1}`]) {
        expect(await (await server.watch(all + query)).take()).toMatchObject([{ type: 'ADDED', object: asRead }])
      }
      const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'
      const table = await server.get(`${one}?includeObject=Object`, { accept })
      expect(table.body.rows).toMatchObject([{ object: asRead }])
    })

    it('reads so when nobody has asked for its bytes but a watcher that sees it go', async () => {
      const watch = await server.watch(`${all}?resourceVersion=${server.api.parts.objects.revision}`)
      await server.delete(one, { propagationPolicy: 'Background' })
      const lines = await watch.take()
      expect(lines.at(-1)).toMatchObject({ type: 'DELETED', object: { spec: row.shown } })
    })

    // Another annotation of a Deployment is another generation, as in Kubernetes.
    const annotations = row.kind === 'Deployment' ? {} : { annotations: { note: 'x' } }
    const changes = { labels: { team: 'x' }, finalizers: ['x.io/f'], ...annotations }
    it.each(Object.entries(changes))('keeps its generation when it gets %s', async (field, value) => {
      const type = row.kind === 'CloneSet' ? 'merge' : 'strategic'
      const { code, body } = await server.patch(one, { metadata: { [field]: value } }, type)
      expect([code, body.metadata.generation]).toEqual([200, 3])
      expect(body.metadata[field]).toMatchObject(value)
      expect(body.spec).toMatchObject(row.shown)
    })

    it('is not written when it is put back as it was read, or as its manifest says it', async () => {
      const { body } = await server.get(one)
      const manifest = { ...storedAs(row), metadata: { name: 'old', annotations: row.annotations ?? {} } }
      for (const sent of [body, manifest]) {
        const { code, body: answer } = await server.update(one, sent)
        expect([code, answer.metadata]).toMatchObject([200, version()])
      }
      expect((await server.patch(one, {})).body.metadata).toMatchObject(version())
    })

    it('keeps its generation when its status is written, and is not written when that says nothing new', async () => {
      expect((await server.patch(`${one}/status`, { status: row.status })).body.metadata).toMatchObject(version())
      const news = { observedGeneration: 4, lastScheduleTime: '2025-01-02T03:00:00Z' }
      const { body } = await server.patch(`${one}/status`, { status: news })
      expect([body.metadata.generation, body.metadata.resourceVersion === String(revision)]).toEqual([3, false])
      expect(body.spec).toMatchObject(row.shown)
    })

    it('has the next generation when somebody wants something else', async () => {
      const { body } = await server.patch(one, { spec: { suspend: true, minReadySeconds: 5 } })
      expect(body.metadata.generation).toBe(4)
    })

    it('reads with them as it was before this process changed it', async () => {
      await server.patch(one, { metadata: { labels: { team: 'x' } } })
      const { body } = await server.get(`${all}?resourceVersionMatch=Exact&resourceVersion=${revision}`)
      expect(body.items).toMatchObject([{ metadata: version(), spec: row.shown }])
      const lines = await (await server.watch(`${all}?resourceVersion=${revision - 1}`)).take()
      expect(lines).toMatchObject([
        { type: 'ADDED', object: { metadata: version(), spec: row.shown } },
        { type: 'MODIFIED', object: { metadata: { labels: { team: 'x' } } } },
      ])
    })

    it.each(row.alsoAs ?? [])('has the same defaults and generation as $apiVersion', async ({ apiVersion, shown }) => {
      const also = `${collection(apiVersion, row.plural)}/old`
      const { body } = await server.get(also)
      expect(body).toMatchObject({ apiVersion, metadata: version(), spec: shown })
      expect((await server.update(also, body)).body.metadata).toMatchObject(version())
      expect((await server.patch(also, { metadata: { labels: { team: 'x' } } })).body.metadata.generation).toBe(3)
    })
  })
})

describe('a list in pages of objects that an earlier release has stored', () => {
  it('shows the defaults on every page, though one object is changed in between', async () => {
    const row = rows[0]!
    const store = openMemoryStore()
    for (const name of ['a', 'b', 'c']) await put(store, `/registry/statefulsets/default/${name}`, storedAs(row, name))
    server = await TestServer.start({ store })
    const all = collection(row.apiVersion, row.plural)
    const first = await server.get(`${all}?limit=1`)
    await server.patch(`${all}/b`, { spec: { replicas: 7 } })
    const rest = await server.get(`${all}?limit=5&continue=${first.body.metadata.continue}`)
    const asStored = (name: string) => ({ metadata: { name, generation: 3 }, spec: { ...row.shown, replicas: 2 } })
    expect([...first.body.items, ...rest.body.items]).toMatchObject(['a', 'b', 'c'].map(asStored))
  })
})

describe('an object that a build has stored', () => {
  it('is served as it is by the same build with the same gates, and read by others', async () => {
    server = await TestServer.start({ build: 'one' })
    const row = rows[0]!
    const one = `${collection(row.apiVersion, row.plural)}/old`
    expect((await server.create(collection(row.apiVersion, row.plural), storedAs(row))).code).toBe(201)
    // A value that no build would write shows who decodes the object again.
    const key = '/registry/statefulsets/default/old'
    const { revision, mark } = (await server.store.get(key))!
    await server.store.write({ key, expected: revision, value: Buffer.from(JSON.stringify(storedAs(row))), mark })
    const deadlineWith = async (options: Options) => {
      server = await server.restart(options)
      return (await server.get(one)).body.spec.progressDeadlineSeconds as number | undefined
    }
    expect(await deadlineWith({ build: 'one' })).toBeUndefined()
    expect(await deadlineWith({ build: 'two' })).toBe(noDeadline)
    expect(await deadlineWith({ build: 'one', gates: { DaemonSetConditions: false } })).toBe(noDeadline)
    expect(await deadlineWith({})).toBe(noDeadline)
  })
})

describe('every kind', () => {
  const urlOf = ({ apiVersion = '', kind = '', metadata: { namespace = 'default' } }: KubeObject) => {
    const target = server.api.parts.registry.all().find((r) => r.apiVersion === apiVersion && r.resource.kind === kind)!
    const inside = target.resource.namespaced ? `namespaces/${namespace}/` : ''
    return `/${apiVersion.includes('/') ? 'apis' : 'api'}/${apiVersion}/${inside}${target.resource.plural}`
  }

  it('reads after a restart as it was written, and no update that says nothing new is written', async () => {
    server = await TestServer.start()
    const written: { url: string; body: object }[] = []
    for (const object of oneOfEachKind) {
      const { code, body } = await server.create(urlOf(object), object)
      expect([object.kind, code]).toEqual([object.kind, 201])
      const url = `${urlOf(object)}/${body.metadata.name}`
      written.push({ url, body: (await server.get(url)).body })
    }
    server = await server.restart()
    const { revision } = server.store
    for (const { url, body } of written) {
      expect((await server.get(url)).body).toEqual(body)
      await server.update(url, body)
      expect([url, server.store.revision]).toEqual([url, revision])
    }
  })
})
