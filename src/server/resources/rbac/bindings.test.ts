import { describe, expect, it } from 'vitest'
import type { Draft } from '../resource-trial.ts'
import { DecodedTrial } from '../resource-trial.ts'
import { clusterrolebindings } from './clusterrolebindings.ts'
import { rolebindings } from './rolebindings.ts'

const binding = new DecodedTrial(rolebindings)
const clusterBinding = new DecodedTrial(clusterrolebindings)
const group = 'rbac.authorization.k8s.io'
const roleRef = { apiGroup: group, kind: 'Role', name: 'r' }

describe('rolebindings', () => {
  it('fill in the groups of role and subjects', () => {
    const made = binding.created({
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [{ kind: 'User', name: 'u' }, { kind: 'Group', name: 'g' }, { kind: 'ServiceAccount', name: 's' }],
    })
    expect(made.roleRef).toEqual(roleRef)
    expect(made.subjects).toEqual([{ apiGroup: group, kind: 'User', name: 'u' }, { apiGroup: group, kind: 'Group', name: 'g' }, { kind: 'ServiceAccount', name: 's' }])
  })

  it.each<[string, Draft, string[]]>([
    ['no subjects', {}, []],
    ['a wrong group of the role', { roleRef: { ...roleRef, apiGroup: 'x' } }, [`roleRef.apiGroup: Unsupported value: "x": supported values: "${group}"`]],
    ['no role', { roleRef: {} }, ['roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"', 'roleRef.name: Required value']],
    ['a bad name of the role', { roleRef: { ...roleRef, name: 'a/b' } }, ['roleRef.name: Invalid value: "a/b": may not contain \'/\'']],
    ['a subject of an unknown kind', { subjects: [{ kind: 'Robot' }] }, [
      'subjects[0].name: Required value', 'subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"',
    ]],
    ['subjects of wrong groups', { subjects: [{ kind: 'User', name: 'u', apiGroup: 'x' }, { kind: 'ServiceAccount', name: 's', apiGroup: 'x' }] }, [
      `subjects[0].apiGroup: Unsupported value: "x": supported values: "${group}"`, 'subjects[1].apiGroup: Unsupported value: "x": supported values: ""',
    ]],
  ])('says of %s', (_, draft, refusals) => {
    expect(binding.refusals({ roleRef, ...draft })).toEqual(refusals)
  })

  it('keep their role and not their subjects', () => {
    const old = binding.created({ roleRef })
    expect(binding.updateRefusals(old, { roleRef, subjects: [{ kind: 'User', name: 'u' }] })).toEqual([])
    expect(binding.updateRefusals(old, { roleRef: { ...roleRef, name: 'other' } })).toEqual([
      `roleRef: Invalid value: {"APIGroup":"${group}","Kind":"Role","Name":"other"}: cannot change roleRef`,
    ])
  })

  it('are shown with who has the role', () => {
    const subjects = [{ kind: 'User', name: 'u' }, { kind: 'User', name: 'v' }, { kind: 'ServiceAccount', name: 's', namespace: 'n' }]
    expect(binding.cells(binding.created({ roleRef, subjects }))).toMatchObject({ Role: 'Role/r', Users: 'u, v', Groups: '', ServiceAccounts: 'n/s' })
  })
})

describe('clusterrolebindings', () => {
  it.each<[string, Draft, string[]]>([
    ['a role of a namespace', { roleRef }, ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"']],
    ['a service account of no namespace', { roleRef: { ...roleRef, kind: 'ClusterRole' }, subjects: [{ kind: 'ServiceAccount', name: 's' }] }, [
      'subjects[0].namespace: Required value',
    ]],
  ])('says of %s', (_, draft, refusals) => {
    expect(clusterBinding.refusals(draft)).toEqual(refusals)
  })
})
