// Whatever list, map or structure of whatever kind is left out, null or empty: the answer is never 500.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cloneObject } from '../../src/api/json/index.ts'
import type { Json, KubeObject } from '../../src/api/object.ts'
import { schema } from '../../src/api/schema/index.ts'
import type { FieldType } from '../../src/api/schema/index.ts'
import { systemRandom } from '../../src/base/random.ts'
import { Registry } from '../../src/server/registry/registry.ts'
import { allResources } from '../../src/server/resources/index.ts'
import { SeededRandom } from '../seeded-random.ts'
import { oneOfEachKind } from '../kubectl/one-of-each-kind.ts'
import { type Reply, TestServer } from './server.ts'

/** `[]` is an item of a list, `{}` an entry of a map. */
interface Place {
  path: readonly string[]
  type: FieldType
}

/** All lists, maps and structures below a structure. A structure inside itself is passed over. */
function placesIn(typeName: string, path: readonly string[] = [], above: readonly string[] = []): Place[] {
  if (above.includes(typeName)) return []
  const below = (type: FieldType, at: readonly string[]): Place[] => {
    if (type.kind === 'struct') return [{ path: at, type }, ...placesIn(type.name, at, [...above, typeName])]
    if (type.kind === 'list') return [{ path: at, type }, ...below(type.of, [...at, '[]'])]
    return type.kind === 'map' ? [{ path: at, type }, ...below(type.of, [...at, '{}'])] : []
  }
  return Object.values(schema[typeName]!.fields).flatMap(({ name, type }) => below(type, [...path, name]))
}

const scalar = (type: FieldType): boolean => !['struct', 'list', 'map'].includes(type.kind)

/** `undefined` removes what is there. */
function emptyValues(type: FieldType): (Json | undefined)[] {
  if (type.kind === 'list') return [undefined, null, [], [null], scalar(type.of) ? [''] : [{}]]
  return type.kind === 'map' ? [undefined, null, {}, { key: null }] : [undefined, null, {}]
}

/** The object with another value at one place. What leads there and is missing is made. */
function withValue(object: object, path: readonly string[], value: Json | undefined): object {
  const copy = cloneObject(object) as Record<string, any>
  let at: any = copy
  for (const [i, step] of path.entries()) {
    const key = step === '[]' ? 0 : step === '{}' ? (Object.keys(at)[0] ?? 'key') : step
    if (i < path.length - 1) at = at[key] ??= path[i + 1] === '[]' ? [] : {}
    else if (value === undefined && !Array.isArray(at)) delete at[key]
    else at[key] = value ?? null
  }
  return copy
}

const registry = new Registry(allResources(systemRandom), [])
const targetOf = ({ apiVersion, kind }: KubeObject) => registry.all().find((r) => r.apiVersion === apiVersion && r.resource.kind === kind)!
const cloneSet = oneOfEachKind.find(({ kind }) => kind === 'CloneSet')!
const hpa = { ...oneOfEachKind.find(({ kind }) => kind === 'HorizontalPodAutoscaler')! }
const oldScaler = { ...hpa, apiVersion: 'autoscaling/v1', metadata: { name: 'old' }, spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 3 } }
const pod = oneOfEachKind.find(({ kind }) => kind === 'Pod')! as KubeObject & { spec: object }
const special = { ...pod, metadata: { ...pod.metadata, name: 'special' }, spec: { ...pod.spec, runtimeClassName: 'usual' } }
const kinds = [...oneOfEachKind, special, { ...cloneSet, apiVersion: 'apps.kruise.io/v1alpha1', metadata: { name: 'old' } }, oldScaler].map((object) => {
  const target = targetOf(object)
  return { object, places: placesIn(target.type.name), target, name: `${object.apiVersion} ${object.kind} ${object.metadata.name}` }
})

/** Pod templates have over a thousand places, and eight kinds have a template: of each kind so many are tried, the same each time. */
const most = Number(process.env['EMPTY_FIELDS'] ?? 60)
/** These are tried in any case. */
const always = /^(spec|metadata|status|.*containers|.*template|.*selector)$/i

/** Objects that admission reads, so that each plugin has an effect on a pod. */
const around: readonly [string, object][] = [
  ['/api/v1/namespaces/default/serviceaccounts', { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }],
  ['/api/v1/namespaces/default/limitranges', {
    apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'all' },
    spec: { limits: [{ type: 'Container', default: { cpu: '1' }, max: { memory: '1Gi' } }, { type: 'Pod', max: { cpu: '64' } }, { type: 'PersistentVolumeClaim', max: { storage: '1Ti' } }] },
  }],
  ['/api/v1/namespaces/default/resourcequotas', {
    apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'all' },
    spec: { hard: { pods: '100', 'requests.cpu': '100', services: '100', 'requests.storage': '1Ti', 'count/deployments.apps': '100' } },
  }],
  ['/apis/scheduling.k8s.io/v1/priorityclasses', { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name: 'usual' }, value: 1, globalDefault: true }],
  ['/apis/storage.k8s.io/v1/storageclasses', {
    apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'x.example.com',
    metadata: { name: 'usual', annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
  }],
  ['/apis/node.k8s.io/v1/runtimeclasses', {
    apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'usual' }, handler: 'runc',
    overhead: { podFixed: { cpu: '1m' } }, scheduling: { nodeSelector: { a: 'b' }, tolerations: [{ key: 'c' }] },
  }],
]

let server: TestServer
beforeAll(async () => {
  server = await TestServer.start()
  for (const [url, object] of around) expect((await server.create(url, object)).code).toBe(201)
})
afterAll(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

/** Kubernetes answers with 500, too, where a strategic patch lacks a merge key: such an answer is meant, and not logged. */
const isFault = ({ code, body }: Reply) => code === 0 || (code >= 500 && !/merge key|element types/.test(body.message))

describe('a field that says nothing is no fault of the server', () => {
  it.each(kinds)('of $name', async ({ object, places, target }) => {
    const { apiVersion, resource } = target
    const all = `${apiVersion.includes('/') ? '/apis' : '/api'}/${apiVersion}/${resource.namespaced ? 'namespaces/default/' : ''}${resource.plural}`
    const { code, body: stored } = await server.create(all, object)
    expect(code).toBe(201)
    const one = `${all}/${stored.metadata.name}`
    const random = new SeededRandom(places.length)
    const share = most / places.length
    const doors = ['', ...(resource.status ? ['/status'] : [])]
    const faults: string[] = []
    for (const { path, type } of places) {
      if (random.next() > share && !always.test(path.at(-1)!)) continue
      // A clock that is asked without end while it stands still takes that for an endless loop.
      server.clock.advance(1)
      for (const value of emptyValues(type)) {
        const answers = [await server.create(`${all}?dryRun=All`, withValue({ ...object, metadata: { ...object.metadata, name: 'other' } }, path, value))]
        for (const door of doors) {
          answers.push(await server.update(`${one}${door}?dryRun=All`, withValue(stored, path, value)))
          answers.push(await server.patch(`${one}${door}?dryRun=All`, withValue({}, path, value ?? null)))
          answers.push(await server.patch(`${one}${door}?dryRun=All`, withValue({}, path, value ?? null), 'strategic'))
        }
        for (const answer of answers.filter(isFault)) faults.push(`${path.join('.')} ${JSON.stringify(value)}: ${answer.code} ${answer.text}`)
      }
    }
    expect([...new Set(faults)].slice(0, 10)).toEqual([])
  }, 60_000)
})
