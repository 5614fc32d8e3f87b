import { describe, expect, it } from 'vitest'
import { type FieldType, schema } from '../schema/index.ts'
import { fieldNumbers } from './field-numbers.ts'

/** Coxswain's additions to Kubernetes' types, which no protobuf client knows. */
const ours = [
  'DaemonSetCondition.lastUpdateTime', 'DaemonSetCondition.progress',
  'DaemonSetSpec.progressDeadlineSeconds', 'DaemonSetStatus.updateRevision',
  'DeploymentCondition.progress',
  'ProgressMark.availableReplicas', 'ProgressMark.desiredReplicas', 'ProgressMark.oldReplicas', 'ProgressMark.readyReplicas', 'ProgressMark.revision',
  'ProgressMark.updatedReplicas',
  'StatefulSetCondition.lastUpdateTime', 'StatefulSetCondition.progress',
  'StatefulSetSpec.progressDeadlineSeconds', 'StatefulSetStatus.desiredReplicas', 'StatefulSetStatus.expectedUpdatedReplicas',
]

/** Kinds that are not Kubernetes' own, definitions of custom resources, and the stand-ins of a stock cluster's kinds are read as JSON only. */
const hasForm = (type: string) =>
  schema[type]!.kind !== undefined && !type.startsWith('Stock') && !/^(apps\.kruise|apiextensions\.k8s)\.io\//.test(schema[type]!.apiVersion!)

/** The types in an envelope with apiVersion and kind: the served kinds and some messages. */
const enveloped = new Set([...Object.keys(schema).filter(hasForm), 'APIGroup', 'APIResourceList', 'DeleteOptions', 'Status'])

function structIn(type: FieldType): string | undefined {
  if (type.kind === 'struct') return type.name
  return type.kind === 'list' || type.kind === 'map' ? structIn(type.of) : undefined
}

/** All that the enveloped types are made of, with themselves. */
function reachable(): string[] {
  const found = new Set([...enveloped, 'ListMeta'])
  // A set that grows while it is walked is walked to its end.
  for (const type of found) {
    for (const field of Object.values(schema[type]!.fields)) {
      const struct = structIn(field.type)
      if (struct) found.add(struct)
    }
  }
  return [...found].sort()
}

const entriesOf = (message: string) =>
  (fieldNumbers[message] ?? '')
    .split(' ')
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [name = '', number] = entry.split('=')
      return { name, number: Number(number) }
    })

/** The JSON names that a message fills, with those of the messages that stand in it. */
const namesIn = (message: string): string[] =>
  entriesOf(message).flatMap(({ name }) => (name.startsWith('...') ? namesIn(name.slice(3)) : [name]))

describe('the protobuf numbers of fields', () => {
  it('are known for every field that can reach the server', () => {
    const missing = reachable().flatMap((type) => {
      const known = new Set([...namesIn(type), ...(enveloped.has(type) ? ['apiVersion', 'kind'] : [])])
      return Object.keys(schema[type]!.fields).filter((field) => !known.has(field)).map((field) => `${type}.${field}`)
    })
    expect(missing.sort()).toEqual(ours)
  })

  it('belong to fields that exist', () => {
    const messages = Object.keys(fieldNumbers).filter((message) => schema[message])
    expect(messages.length).toBeGreaterThan(300)
    const strange = messages.flatMap((m) => namesIn(m).filter((name) => !(name in schema[m]!.fields)).map((name) => `${m}.${name}`))
    expect(strange).toEqual([])
  })

  it('occur once in a message', () => {
    const wrong = Object.keys(fieldNumbers).flatMap((message) => {
      const numbers = entriesOf(message).map(({ number }) => number)
      return numbers.filter((n, at) => !(n > 0) || numbers.indexOf(n) !== at).map((n) => `${message}=${n}`)
    })
    expect(wrong).toEqual([])
  })

  it.each([
    ['a container', 'Container', 'restartPolicyRules', 25],
    ['a list', 'ListMeta', 'shardInfo', 5],
    ['a pod, past a number that is not used any more', 'PodSpec', 'schedulingGroup', 43],
    ['a device, where numbers are left out', 'ResourceHealth', 'message', 6],
  ])('are those of Kubernetes 1.36 for what is new in %s', (_, message, name, number) => {
    expect(entriesOf(message)).toContainEqual({ name, number })
  })
})
