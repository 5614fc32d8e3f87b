import { describe, expect, it } from 'vitest'
import { describeField } from '../../api/schema/descriptions.ts'
import { schema } from '../../api/generated/schema.ts'
import { fieldDescription, structDescriptions } from './field-descriptions.ts'

describe('structDescriptions', () => {
  it.each(Object.keys(structDescriptions))('%s is a field that has no other description', (where) => {
    const [type, field] = where.split('.') as [string, string]
    expect(schema[type]?.fields[field]?.type.kind).toBe('struct')
    expect(describeField(type, field)).toBe('')
  })
})

describe('fieldDescription()', () => {
  it.each([
    ['what the schema says', 'PodSpec', 'containers', undefined, 'List of containers belonging to the pod.'],
    ['what we know of structures', 'Deployment', 'spec', 'DeploymentSpec', 'Specification of the desired behavior of the Deployment.'],
    ['the same of all metadata', 'Lease', 'metadata', 'ObjectMeta', "Standard object's metadata."],
    ['what is said of the type', 'Probe', 'nosuch', 'ExecAction', 'ExecAction describes a "run in container" action.'],
    ['nothing of what is unknown', 'Probe', 'nosuch', undefined, ''],
  ])('gives %s', (_, type, field, struct, wanted) => {
    expect(fieldDescription(type, field, struct).slice(0, wanted.length || undefined)).toBe(wanted)
  })
})
