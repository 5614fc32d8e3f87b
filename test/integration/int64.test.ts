import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ApiError } from '../../src/api/errors.ts'
import { type Int64, toInt64 } from '../../src/api/numbers/int64.ts'
import { jsonText } from '../../src/api/json/index.ts'
import type { Json, KubeObject } from '../../src/api/object.ts'
import { type FieldPath, pathsTo, readAt, valueAt } from '../../src/api/schema/sample-paths.ts'
import { schema } from '../../src/api/schema/index.ts'
import { type ApiRequest, discover, pathOf } from '../../src/client/index.ts'
import { oneOfEachKind } from '../kubectl/one-of-each-kind.ts'
import { type TestServer, configMaps } from './server.ts'
import { useTestServer } from './use-test-server.ts'
import { type World, httpWorld, inProcessWorld } from './worlds.ts'

const max = 2n ** 63n - 1n
const least = -(2n ** 63n)
const int64From = (min: bigint) =>
  fc
    .oneof(fc.bigInt({ min, max }), fc.bigInt({ min: 2n ** 53n - 1n, max: 2n ** 53n + 3n }), fc.constant(max))
    .map(toInt64)

/** A field that takes large values. */
interface Row {
  kind: string
  apiVersion?: string
  path: string
  /** Further required fields. */
  around?: object
  /** The least value that is accepted; any, if not said. */
  min?: bigint
  subresource?: 'status'
  /** Nobody may change it. */
  isFixed?: boolean
}

const status = (kind: string, more: Partial<Row> = {}): Row => ({
  kind, path: 'status.observedGeneration', min: 0n, subresource: 'status', ...more,
})
const time = '2026-01-01T00:00:00Z'
const condition = { type: 'Ready', status: 'True', reason: 'Tested', lastTransitionTime: time, message: '' }
const ofCondition = { path: 'status.conditions.[].observedGeneration', around: { status: { conditions: [condition] } } }
const tolerations = [{ operator: 'Exists', effect: 'NoExecute' }]
const probed = { spec: { template: { spec: { containers: [{ livenessProbe: { exec: { command: ['true'] } } }] } } } }

const rows: Row[] = [
  { kind: 'ControllerRevision', path: 'revision', min: 0n },
  { kind: 'ControllerRevision', path: 'data.numbers.[]', isFixed: true },
  { kind: 'Pod', path: 'spec.tolerations.[].tolerationSeconds', around: { spec: { tolerations } } },
  { kind: 'Pod', path: 'spec.terminationGracePeriodSeconds', min: 0n, isFixed: true },
  { kind: 'PodTemplate', path: 'template.spec.terminationGracePeriodSeconds', min: 0n },
  { kind: 'Deployment', path: 'spec.template.spec.terminationGracePeriodSeconds', min: 0n },
  {
    kind: 'Deployment', around: probed, min: 1n,
    path: 'spec.template.spec.containers.[].livenessProbe.terminationGracePeriodSeconds',
  },
  { kind: 'Job', path: 'spec.activeDeadlineSeconds', min: 0n },
  { kind: 'CronJob', path: 'spec.startingDeadlineSeconds', min: 0n },
  { kind: 'CSIDriver', path: 'spec.nodeAllocatableUpdatePeriodSeconds', min: 10n },
  status('Node', { path: 'status.images.[].sizeBytes', around: { status: { images: [{ names: ['a'] }] } } }),
  status('Pod', ofCondition),
  status('Service', ofCondition),
  status('Pod'),
  status('Deployment'),
  status('ReplicaSet'),
  status('StatefulSet'),
  status('DaemonSet'),
  status('ReplicationController'),
  status('PodDisruptionBudget'),
  status('HorizontalPodAutoscaler'),
  status('HorizontalPodAutoscaler', { apiVersion: 'autoscaling/v1' }),
  status('CloneSet'),
  status('CloneSet', { apiVersion: 'apps.kruise.io/v1alpha1' }),
]

const nameOf = ({ kind, apiVersion, path }: Row) => `${kind}${apiVersion ? ` (${apiVersion})` : ''} ${path}`

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
}

/** True if a double would have other digits. */
const isRounded = (value: Int64): boolean => !String(value).includes(String(Number(value)))

const isFields = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Both values, the second where they disagree; lists item by item. */
function merged(a: unknown, b: unknown): unknown {
  if (Array.isArray(a) && Array.isArray(b)) {
    return Array.from({ length: Math.max(a.length, b.length) }, (_, i) => merged(a[i], b[i]))
  }
  if (!isFields(a) || !isFields(b)) return b === undefined ? a : b
  const keys = new Set([...Object.keys(a), ...Object.keys(b)])
  return Object.fromEntries([...keys].map((key) => [key, merged(a[key], b[key])]))
}

function sampleOf(kind: string, apiVersion?: string): KubeObject {
  const found = oneOfEachKind.find((o) => o.kind === kind && (o.apiVersion === apiVersion || apiVersion === undefined))
  return found ?? { ...sampleOf(kind), apiVersion: apiVersion! }
}

const fields = oneOfEachKind.flatMap(({ apiVersion = '', kind = '' }) => {
  const [typeName] = Object.entries(schema).find(([, type]) => type.apiVersion === apiVersion && type.kind === kind)!
  return pathsTo('int64', typeName).map((path) => ({ apiVersion, kind, path }))
})

const worlds: [how: string, start: () => Promise<World>][] = [
  ['over HTTP', httpWorld],
  ['in the process', inProcessWorld],
]

describe.each(worlds)('an int64 %s', (_, start) => {
  let world: World
  /** The paths of the objects by `apiVersion/kind`. */
  let collections: Map<string, string>
  let made = 0

  beforeAll(async () => {
    world = await start()
    const { resources } = await discover(world.client)
    const versionOf = (group: string, version: string) => (group ? `${group}/${version}` : version)
    collections = new Map(
      resources.map((r) => [`${versionOf(r.group, r.version)}/${r.kind}`, pathOf(r, r.namespaced ? 'default' : '')]),
    )
  })
  afterAll(() => world.close())

  function send<T = KubeObject>(method: ApiRequest['method'], path: string, body?: unknown, contentType?: string) {
    const sent = { ...(body === undefined ? {} : { body }), ...(contentType ? { contentType } : {}) }
    return world.transport.send<T>({ method, path, ...sent })
  }

  /** The sample of a kind under a name of its own, with what is asked for, and where it is to be created. */
  function draft(kind: string, apiVersion: string | undefined, more: unknown) {
    const sample = sampleOf(kind, apiVersion)
    const name = `sample-${++made}`
    const object = merged({ ...sample, metadata: { ...sample.metadata, name } }, more) as KubeObject & { spec?: object }
    // Each Service gets an address of its own.
    if (object.spec && 'clusterIP' in object.spec) delete object.spec.clusterIP
    return { collection: collections.get(`${sample.apiVersion}/${kind}`)!, name, object }
  }

  /** Gathers the values that a watcher of a collection sees at a path, by the names of objects. */
  async function watched(collection: string, path: FieldPath) {
    const seen = new Map<string, unknown[]>()
    let isOpen = false
    const stop = world.transport.watch({ method: 'GET', path: collection, query: { watch: 'true' } }, {
      opened: () => {
        isOpen = true
      },
      event: ({ object }) => {
        const { name = '' } = object.metadata
        seen.set(name, [...(seen.get(name) ?? []), readAt(object, path)])
      },
      closed: () => {},
    })
    await world.until('the watch is open', () => isOpen)
    return { of: (name: string) => seen.get(name) ?? [], stop }
  }

  describe('is created, read, listed, watched, updated and patched to the last digit', () => {
    it.each(rows.map((row) => [nameOf(row), row] as const))('%s', async (_name, row) => {
      const { kind, apiVersion, subresource, around, isFixed } = row
      const path = row.path.split('.')
      const { collection } = draft(kind, apiVersion, {})
      const watch = await watched(collection, path)

      /** Writes these values one after the other, each in another way, and looks for each in all ways. */
      const write = async ([first, second, third, fourth, fifth]: Int64[]) => {
        const { name, object } = draft(kind, apiVersion, merged(around, subresource ? {} : valueAt(path, first!)))
        const itself = `${collection}/${name}`
        const part = subresource ? `${itself}/${subresource}` : itself
        const written: Int64[] = []
        const expectWritten = async (answer: KubeObject, value: Int64) => {
          expect(readAt(answer, path)).toBe(value)
          expect(readAt(await send('GET', itself), path)).toBe(value)
          const { items } = await send<{ items: KubeObject[] }>('GET', collection)
          expect(readAt(items.find((o) => o.metadata.name === name), path)).toBe(value)
          written.push(value)
        }
        const created = await send('POST', collection, object)
        if (!subresource) await expectWritten(created, first!)
        if (!isFixed) {
          const changed = merged(await send('GET', itself), merged(around, valueAt(path, second!)))
          await expectWritten(await send('PUT', part, changed), second!)
          const at = `/${path.map((step) => (step === '[]' ? '0' : step)).join('/')}`
          const operations = [{ op: 'test', path: at, value: second }, { op: 'replace', path: at, value: third }]
          await expectWritten(await send('PATCH', part, operations, patchTypes.json), third!)
        }
        if (!isFixed && !path.includes('[]')) {
          // Kinds of others have no strategic patch.
          const other = kind === 'CloneSet' ? patchTypes.merge : patchTypes.strategic
          await expectWritten(await send('PATCH', part, valueAt(path, fourth!), patchTypes.merge), fourth!)
          await expectWritten(await send('PATCH', part, valueAt(path, fifth!), other), fifth!)
        }
        await world.until('all was watched', () => written.every((value) => watch.of(name).includes(value)))
      }

      const value = int64From(row.min ?? least).filter((v) => v !== 0)
      const values = fc.uniqueArray(value, { minLength: 5, maxLength: 5 })
      await fc.assert(fc.asyncProperty(values, write), { numRuns: 8 })
      watch.stop()
    })
  })

  it('in any field of any kind is kept to the last digit, refused with all its digits, or not kept', async () => {
    let kept = 0
    const value = int64From(least).filter(isRounded)
    const property = fc.asyncProperty(fc.constantFrom(...fields), value, async ({ apiVersion, kind, path }, large) => {
      const { collection, name, object } = draft(kind, apiVersion, valueAt(path, large as Json))
      const rounded = String(Number(large))
      try {
        const answers = [await send('POST', collection, object), await send('GET', `${collection}/${name}`)]
        for (const answer of answers) {
          if (readAt(answer, path) === large) kept++
          expect(jsonText(answer)).not.toContain(rounded)
        }
      } catch (e) {
        if (!(e instanceof ApiError)) throw e
        expect(e.code, e.message).toBeLessThan(500)
        expect(e.message).not.toContain(rounded)
      }
    })
    await fc.assert(property, { numRuns: 400 })
    expect(kept).toBeGreaterThan(20)
  })

  it('beyond its range is refused with all its digits', async () => {
    const { collection, object } = draft('ControllerRevision', undefined, { revision: max + 1n })
    const field = 'Go struct field ControllerRevision.revision of type int64'
    await expect(send('POST', collection, object)).rejects.toThrow(
      `cannot be handled as a ControllerRevision: json: cannot unmarshal number 9223372036854775808 into ${field}`,
    )
  })

  it('that is too large to be valid is quoted with all its digits', async () => {
    const { collection, object } = draft('Pod', undefined, { spec: { securityContext: { runAsUser: max } } })
    await expect(send('POST', collection, object)).rejects.toThrow(
      'runAsUser: Invalid value: 9223372036854775807: must be between 0 and 2147483647, inclusive',
    )
  })

  it('is a grace period that a pod can be deleted with', async () => {
    const { collection, name, object } = draft('Pod', undefined, { spec: { nodeName: 'n' } })
    await send('POST', collection, object)
    const { metadata } = await send('DELETE', `${collection}/${name}`, { gracePeriodSeconds: max })
    expect(metadata.deletionGracePeriodSeconds).toBe(max)
    expect(Date.parse(metadata.deletionTimestamp!)).not.toBeNaN()
    const sooner = await send('DELETE', `${collection}/${name}`, { gracePeriodSeconds: max - 1n })
    expect(sooner.metadata.deletionGracePeriodSeconds).toBe(max - 1n)
  })

  it('is there again when the server has been started anew', async () => {
    const more = { revision: max, data: { more: [10n ** 30n, { less: -max }] } }
    const { collection, name, object } = draft('ControllerRevision', undefined, more)
    await send('POST', collection, object)
    await world.restart()
    const read = await world.client.transport.send({ method: 'GET', path: `${collection}/${name}` })
    expect(read).toMatchObject(more)
  })
})

describe('an int64 in every form of a body and of an answer', () => {
  let server: TestServer
  useTestServer((started) => {
    server = started
  })

  const digits = '3546343826724305833'
  const url = '/apis/apps/v1/namespaces/default/controllerrevisions'
  const json = `{"metadata":{"name":"a"},"revision":${digits},"data":{"count":${digits}}}`
  const yaml = `metadata: {name: a}\nrevision: ${digits}\ndata: {count: ${digits}}\n`
  const asTable = 'application/json;as=Table;v=v1;g=meta.k8s.io'
  const asMetadata = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io'

  const sendText = (method: string, at: string, type: string, text: string) =>
    server.send({ method, url: at, headers: { 'content-type': `application/${type}` }, body: Buffer.from(text) })

  it.each([['json', json], ['yaml', yaml]])('from %s', async (type, text) => {
    const made = await sendText('POST', url, type, text)
    expect(made.code).toBe(201)
    expect(made.text).toContain(`"revision":${digits},"data":{"count":${digits}}`)
  })

  it.each<[what: string, query: string, accept: string, wanted: string[]]>([
    ['JSON', '', 'application/json', [`"revision":${digits}`, `"data":{"count":${digits}}`]],
    ['pretty JSON', '?pretty=true', 'application/json', [`"revision": ${digits}`, `"count": ${digits}`]],
    ['YAML', '', 'application/yaml', [`revision: ${digits}\n`, `count: ${digits}\n`]],
    ['a cell of a table', '', asTable, [`"cells":["a","<none>",${digits},`]],
    ['an object of a table', '?includeObject=Object', asTable, [`"revision":${digits}`]],
  ])('as %s', async (_, query, accept, wanted) => {
    await sendText('POST', url, 'json', json)
    for (const where of [`${url}/a`, url]) {
      const { text } = await server.get(where + query, { accept })
      for (const part of wanted) expect(text).toContain(part)
    }
  })

  it('as an event of a watch for tables', async () => {
    const watch = await server.watch(url, { accept: asTable })
    await sendText('POST', url, 'json', json)
    const [event] = await watch.take()
    expect(event!.object.rows[0].cells).toEqual(['a', '<none>', BigInt(digits), '0s'])
  })

  it('as metadata alone', async () => {
    await server.create(configMaps, { metadata: { name: 'a', generation: BigInt(digits) } })
    const { text } = await server.get(`${configMaps}/a`, { accept: asMetadata })
    expect(text).toContain(`"generation":${digits}`)
  })

  it('in the error about a patch', async () => {
    await sendText('POST', url, 'json', json)
    const { code, body } = await sendText('PATCH', `${url}/a`, 'merge-patch+json', `{"revision":${digits}0}`)
    expect(code).toBe(422)
    expect(body.message).toContain(`json: cannot unmarshal number ${digits}0 into Go struct field`)
    expect(body.message).toContain(`\\"count\\":${digits}}`)
  })

  it('as a resource version from the future', async () => {
    const { code, body } = await server.get(`${url}?resourceVersion=18446744073709551615`)
    expect(code).toBe(504)
    expect(body.message).toContain('Too large resource version: 18446744073709551615, current: ')
  })
})
