import { expect, it } from 'vitest'
import { cloneSetDefinition } from '../../src/api/kinds/workloads/cloneset-definition.ts'
import { settle, type TestServer } from './server.ts'
import { useTestServer } from './use-test-server.ts'

let server: TestServer
useTestServer((started) => {
  server = started
})

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
// A server of ours has the kind built in: under another group it is a custom kind like any other.
const group = 'apps.example.com'
const elsewhere = () => {
  const definition = structuredClone(cloneSetDefinition())
  definition.metadata.name = `clonesets.${group}`
  definition.spec.group = group
  return definition
}
const clonesets = `/apis/${group}/v1alpha1/namespaces/default/clonesets`
const cloneSet = (spec = {}) => ({
  apiVersion: `${group}/v1alpha1`, kind: 'CloneSet', metadata: { name: 'a' },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: { metadata: { creationTimestamp: null, labels: { app: 'a' } }, spec: { containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], resources: { limits: { cpu: 1, memory: '1Gi' } } }] } },
    ...spec,
  },
})

it('is accepted, and its objects are filled in, scaled and judged', async () => {
  const made = await server.create(definitions, elsewhere())
  expect([made.code, made.body.message]).toEqual([201, undefined])
  await settle()
  expect((await server.get(`${definitions}/clonesets.${group}`)).body.status.conditions.map((c: any) => `${c.type}=${c.status}`)).toEqual(['NamesAccepted=True', 'Established=True'])
  const { code, body } = await server.create(`${clonesets}?fieldValidation=Strict`, cloneSet())
  expect([code, body.message]).toEqual([201, undefined])
  expect(body.spec).toMatchObject({ replicas: 1, progressDeadlineSeconds: 600, updateStrategy: { type: 'ReCreate', maxUnavailable: '20%', partition: 0 } })
  expect((await server.patch(`${clonesets}/a/scale`, { spec: { replicas: 3 } })).body.spec.replicas).toBe(3)
  const counts = { replicas: 2, readyReplicas: 2, availableReplicas: 1, updatedReplicas: 0, updatedReadyReplicas: 0 }
  const told = await server.patch(`${clonesets}/a/status`, { status: { ...counts, labelSelector: 'app=a' } })
  expect([told.body.message, told.body.status]).toEqual([undefined, { ...counts, labelSelector: 'app=a' }])
  expect((await server.get(clonesets, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })).body.columnDefinitions.map((c: any) => c.name)).toEqual(
    ['Name', 'DESIRED', 'UPDATED', 'UPDATED_READY', 'UPDATED_AVAILABLE', 'READY', 'TOTAL', 'AGE', 'CONTAINERS', 'IMAGES', 'SELECTOR'],
  )
})

it.each([
  ['progressDeadlineSeconds', { progressDeadlineSeconds: 'x' }, 'spec.progressDeadlineSeconds'],
  ['a container without a name', { template: { spec: { containers: [{ image: 'i' }] } } }, 'spec.template.spec.containers[0].name'],
  ['a container that stands twice', { template: { spec: { containers: [{ name: 'c' }, { name: 'c' }] } } }, 'spec.template.spec.containers[1]'],
])('refuses %s that is wrong', async (_, spec, field) => {
  await server.create(definitions, elsewhere())
  await settle()
  const { code, body } = await server.create(clonesets, cloneSet(spec))
  expect([code, body.details.causes.map((c: any) => c.field)]).toEqual([422, expect.arrayContaining([field])])
})
