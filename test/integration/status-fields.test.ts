import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Json, KubeObject } from '../../src/api/object.ts'
import { type FieldType, fieldOf, structOf } from '../../src/api/schema/index.ts'
import { systemRandom } from '../../src/base/random.ts'
import { type Registered, Registry } from '../../src/server/registry/registry.ts'
import { createAuthority } from '../../src/server/auth/certificates.ts'
import { allResources } from '../../src/server/resources/index.ts'
import { oneOfEachKind } from '../kubectl/one-of-each-kind.ts'
import { TestServer } from './server.ts'

let server: TestServer

beforeEach(async () => {
  server = await TestServer.start()
})

afterEach(async () => {
  expect(server.errors).toEqual([])
  await server.close()
})

/** Values that validation takes, by the field's name, where not every value of the type will do. */
const special: Record<string, Json> = {
  bindingFailureConditions: ['Broken'],
  data: { speed: 3 },
  device: 'gpu-0',
  certificate: Buffer.from(createAuthority(0).certificate).toString('base64'),
  health: 'Healthy',
  hostIP: '10.0.0.1',
  hostname: 'host.example.com',
  ip: '10.0.0.1',
  ips: ['10.9.8.7/24'],
  nodeSelector: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] },
  nominatedNodeName: 'node-1',
  parameters: { speed: 3 },
  podIP: '10.0.0.1',
  pool: 'node-1',
  recursiveReadOnly: 'Disabled',
  request: 'gpu',
  shareID: '11111111-2222-4333-8444-555555555555',
  source: 'FromClaim',
  state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
  status: 'True',
  tolerations: [{ key: 'k', operator: 'Equal', value: 'v', effect: 'NoExecute', tolerationSeconds: 3 }],
  values: ['x'],
}

/** Fields that are refused or dropped whatever they say, as in Kubernetes, or need a spec of their own. */
const leftOut = new Set([
  'DeviceAllocationConfiguration.requests',
  'NamespaceStatus.phase',
  'NodeStatus.config',
  'PersistentVolumeClaimStatus.allocatedResourceStatuses',
  'PersistentVolumeClaimStatus.allocatedResources',
  'PodStatus.ephemeralContainerStatuses',
  'PodStatus.qosClass',
  'PodStatus.resourceClaimStatuses',
  'ResourceQuotaStatus.hard',
  'ResourceQuotaStatus.used',
  'ServiceStatus.loadBalancer',
  'JobStatus.completedIndexes',
  'JobStatus.completionTime',
  'JobStatus.failedIndexes',
  'JobStatus.uncountedTerminatedPods',
])

function sampleOf(type: FieldType, name: string): Json {
  if (Object.hasOwn(special, name)) return special[name]!
  switch (type.kind) {
    case 'boolean':
      return true
    case 'int32':
    case 'int64':
    case 'double':
      return 3
    case 'quantity':
      return '3'
    case 'time':
      return '2026-01-01T00:00:00Z'
    case 'microTime':
      return '2026-01-01T00:00:00.000000Z'
    case 'list':
      return [sampleOf(type.of, '')]
    case 'map':
      return { key: sampleOf(type.of, '') }
    case 'struct':
      return structSample(type.name)
    default:
      return 'Sample'
  }
}

function structSample(typeName: string): { [field: string]: Json } {
  const fields = Object.values(structOf(typeName)!.fields).filter(({ name }) => !leftOut.has(`${typeName}.${name}`))
  return Object.fromEntries(fields.map(({ name, type }) => [name, sampleOf(type, name)]))
}

/** The schema's name of a kind's status. */
function statusType({ type: { name: type } }: Registered): string {
  const status = fieldOf(type, 'status')!.type
  if (status.kind !== 'struct') throw new Error(`the status of ${type} is no structure`)
  return status.name
}

const registry = new Registry(allResources(systemRandom), [])
const targetOf = ({ apiVersion, kind }: KubeObject) =>
  registry.all().find((r) => r.apiVersion === apiVersion && r.resource.kind === kind)!

const cloneSet = oneOfEachKind.find(({ kind }) => kind === 'CloneSet')!
const samples = [...oneOfEachKind, { ...cloneSet, apiVersion: 'apps.kruise.io/v1alpha1' }]
  .map((object) => ({ object, target: targetOf(object), name: `${object.apiVersion} ${object.kind}` }))
  // The server itself writes the status of an APIService, as often as it asks the other server.
  .filter(({ object, target }) => target.resource.status && object.kind !== 'APIService')

describe('a status that is written', () => {
  it.each(samples)('of $name is stored whole, and read so by the next server', async ({ object, target }) => {
    const { apiVersion, resource } = target
    const root = apiVersion.includes('/') ? '/apis' : '/api'
    const all = `${root}/${apiVersion}/${resource.namespaced ? 'namespaces/default/' : ''}${resource.plural}`
    const { body: made } = await server.create(all, object)
    const status = structSample(statusType(target))
    const one = `${all}/${made.metadata.name}`
    const sent = { ...made, status: { ...made.status, ...status } }
    const { code, body } = await server.update(`${one}/status`, sent)
    expect([code, body.message]).toEqual([200, undefined])
    // A status that says something has a manager of its own from now on.
    const { resourceVersion, managedFields } = body.metadata
    expect(body).toEqual({ ...sent, metadata: { ...made.metadata, resourceVersion, managedFields } })
    const ofStatus = { operation: 'Update', subresource: 'status', fieldsV1: { 'f:status': expect.anything() as object } }
    if (Object.keys(status).length > 0) expect(managedFields.at(-1)).toMatchObject(ofStatus)
    server = await server.restart()
    expect((await server.get(one)).body).toEqual(body)
  })
})
