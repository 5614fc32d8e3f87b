import { describe, expect, it } from 'vitest'
import { schema } from '../../api/schema/index.ts'
import { systemRandom } from '../../base/random.ts'
import { allResources } from '../resources/index.ts'
import type { Definition } from './swagger-schema.ts'
import { OpenApi } from './openapi.ts'

const openapi = new OpenApi({ resources: allResources(systemRandom), actions: [], virtual: [], schema }, 'v1.36.0')

const read = (path: string): unknown =>
  JSON.parse(openapi.answer({ method: 'GET', path, query: new URLSearchParams() })!.body.toString())

/** The types of all groups and versions, but for lists of them. */
const everything: Record<string, Definition> = {}
for (const version of Object.keys((read('/openapi/v3') as { paths: object }).paths)) {
  const { components } = read(`/openapi/v3/${version}`) as { components: { schemas: Record<string, Definition> } }
  for (const [name, definition] of Object.entries(components.schemas)) {
    if (!(definition['required'] as string[] | undefined)?.includes('items')) everything[name] = definition
  }
}

/** The text about a field of a type, whatever group it is of. */
function textOf(where: string): string {
  const [type, field] = where.split('.') as [string, string]
  const name = Object.keys(everything).find((key) => key.endsWith(`.${type}`))
  const { [field]: found } = (everything[name ?? '']?.['properties'] ?? {}) as Record<string, { description?: string }>
  return found?.description ?? `there is no ${where}`
}

describe.each<[kind: string, types: string[]]>([
  ['ReplicaSet', ['Available', 'ReplicaFailure']],
  ['ReplicationController', ['Available', 'ReplicaFailure']],
  ['Deployment', ['Progressing', 'Available', 'ReplicaFailure']],
  ['StatefulSet', ['Progressing', 'Available', 'ReplicaFailure']],
  ['DaemonSet', ['Progressing', 'Available', 'ReplicaFailure']],
  ['CloneSet', ['Progressing', 'Available', 'ReplicaFailure', 'FailedScale', 'FailedUpdate']],
  ['Job', ['Suspended', 'Complete', 'Failed', 'FailureTarget', 'SuccessCriteriaMet', 'Waiting', 'Running']],
])('the conditions of a %s', (kind, types) => {
  it('are named where they are listed', () => {
    expect(textOf(`${kind}Status.conditions`)).toContain(` Their types are ${types.join(', ')}.`)
  })

  it('are explained, and no others', () => {
    const explained = textOf(`${kind}Condition.type`).matchAll(/(?<=\. )(\w+):/g)
    expect([...explained].map(([, type]) => type)).toEqual(types)
  })
})

it.each<[string, string[]]>([
  ['RollingUpdateStatefulSetStrategy.maxUnavailable', ['rounded down to at least 1', 'Defaults to 1.', 'partition']],
  ['RollingUpdateStatefulSetStrategy.maxUnavailable', ['minReadySeconds', 'OrderedReady', 'Parallel', 'feature gate']],
  ['RollingUpdateDeployment.maxSurge', ['rounded up', 'Defaults to 25%.']],
  ['RollingUpdateDeployment.maxUnavailable', ['rounded down', 'Defaults to 25%.']],
  ['RollingUpdateDaemonSet.maxSurge', ['rounded up', 'Defaults to 0.']],
  ['RollingUpdateDaemonSet.maxUnavailable', ['rounded up', 'Defaults to 1.']],
  ['CloneSetUpdateStrategy.maxSurge', ['rounded up', 'Defaults to 0.']],
  ['CloneSetUpdateStrategy.maxUnavailable', ['Defaults to 20%.']],
  ['StatefulSetSpec.progressDeadlineSeconds', ['ProgressDeadlineExceeded', 'partition', 'Defaults to 2147483647']],
  ['DaemonSetSpec.progressDeadlineSeconds', ['ProgressDeadlineExceeded', 'Defaults to 2147483647']],
  ['CloneSetSpec.progressDeadlineSeconds', ['ProgressDeadlineExceeded', 'Defaults to 600']],
  ['StatefulSetCondition.lastUpdateTime', ['progressDeadlineSeconds']],
  ['DaemonSetCondition.lastUpdateTime', ['progressDeadlineSeconds']],
  ['CloneSetCondition.lastUpdateTime', ['progressDeadlineSeconds']],
  ['StatefulSetStatus.desiredReplicas', ['number of replicas']],
  ['StatefulSetStatus.expectedUpdatedReplicas', ['partition']],
  ['DaemonSetStatus.updateRevision', ['name of the revision']],
])('%s says %j', (where, words) => {
  for (const word of words) expect(textOf(where)).toContain(word)
})

describe('all fields', () => {
  const fields = Object.entries(everything).flatMap(([type, { properties = {} }]) =>
    Object.entries(properties as Record<string, { description?: string }>).map(([field, { description = '' }]) => ({
      where: `${type}.${field}`,
      description,
    })),
  )

  it('have a description', () => {
    expect(fields.length).toBeGreaterThan(1000)
    // Kubernetes says nothing of most keywords of JSON schema.
    const isKeyword = (where: string) => /\.(JSONSchemaProps|ExternalDocumentation)\./.test(where)
    const bare = fields.filter(({ description, where }) => description === '' && !isKeyword(where))
    expect(bare.map(({ where }) => where)).toEqual([])
  })

  it('are not described by nothing but the type of their value', () => {
    const idle = /^(IntOrString is a type|MicroTime is version|Time is a wrapper|Quantity is a fixed)/
    expect(fields.filter(({ description }) => idle.test(description)).map(({ where }) => where)).toEqual([])
  })
})
