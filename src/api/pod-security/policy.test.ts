import { describe, expect, it } from 'vitest'
import type { Pod } from '../generated/types.ts'
import { readPodSecuritySettings } from './configuration.ts'
import { isSignificantUpdate, templateReader } from './pods-of-kinds.ts'
import { type Policy, isSamePolicy, levelVersionText, modes, openPolicy, policyOf } from './policy.ts'

const labelled = (labels: Record<string, string>) =>
  policyOf(
    Object.fromEntries(Object.entries(labels).map(([key, value]) => [`pod-security.kubernetes.io/${key}`, value])),
    openPolicy,
  )
const textOf = (policy: Policy) => modes.map((mode) => levelVersionText(policy[mode])).join(' ')

describe('the policy of a namespace', () => {
  it.each<[string, Record<string, string>, string]>([
    ['no labels', {}, 'privileged:latest privileged:latest privileged:latest'],
    ['enforced, and warned of the same', { enforce: 'baseline' }, 'baseline:latest privileged:latest baseline:latest'],
    [
      'enforced in a version',
      { enforce: 'restricted', 'enforce-version': 'v1.29' },
      'restricted:v1.29 privileged:latest restricted:v1.29',
    ],
    [
      'warned in another version',
      { enforce: 'baseline', 'warn-version': 'v1.30' },
      'baseline:latest privileged:latest baseline:v1.30',
    ],
    [
      'warned of less',
      { enforce: 'restricted', warn: 'baseline' },
      'restricted:latest privileged:latest baseline:latest',
    ],
    [
      'warned of nothing',
      { enforce: 'restricted', warn: 'privileged' },
      'restricted:latest privileged:latest privileged:latest',
    ],
    [
      'warned of more',
      { enforce: 'baseline', warn: 'restricted' },
      'baseline:latest privileged:latest restricted:latest',
    ],
    [
      'audited',
      { audit: 'restricted', 'audit-version': 'v1.0' },
      'privileged:latest restricted:v1.0 privileged:latest',
    ],
    [
      'a version of the future',
      { enforce: 'baseline', 'enforce-version': 'v1.999' },
      'baseline:v1.999 privileged:latest baseline:v1.999',
    ],
  ])('%s', (_, labels, text) => {
    const { policy, errors } = labelled(labels)
    expect([textOf(policy), errors]).toEqual([text, []])
  })

  it.each<[string, Record<string, string>, string, string]>([
    [
      'a level to enforce',
      { enforce: 'Baseline' },
      'restricted:latest privileged:latest restricted:latest',
      'must be one of privileged, baseline, restricted',
    ],
    [
      'a level to audit',
      { audit: '' },
      'privileged:latest privileged:latest privileged:latest',
      'must be one of privileged, baseline, restricted',
    ],
    [
      'a level to warn of',
      { warn: 'x' },
      'privileged:latest privileged:latest privileged:latest',
      'must be one of privileged, baseline, restricted',
    ],
    [
      'a version',
      { enforce: 'baseline', 'enforce-version': '1.2' },
      'baseline:latest privileged:latest baseline:latest',
      'must be "latest" or "v1.x"',
    ],
    [
      'a padded version',
      { 'warn-version': 'v1.05' },
      'privileged:latest privileged:latest privileged:latest',
      'must be "latest" or "v1.x"',
    ],
    [
      'a version of another time',
      { 'audit-version': 'v2.0' },
      'privileged:latest privileged:latest privileged:latest',
      'must be "latest" or "v1.x"',
    ],
  ])('%s that is wrong', (_, labels, text, problem) => {
    const { policy, errors } = labelled(labels)
    const [key, value] = Object.entries(labels).at(-1)!
    expect(textOf(policy)).toBe(text)
    expect(errors).toEqual([{
      reason: 'FieldValueInvalid', field: `metadata.labels[pod-security.kubernetes.io/${key}]`,
      message: `Invalid value: "${value}": ${problem}`,
    }])
  })

  it('is the same as another that lets the same pods pass', () => {
    const { policy } = labelled({ 'enforce-version': 'v1.20', 'warn-version': 'v1.21' })
    expect(isSamePolicy(policy, openPolicy)).toBe(true)
    expect(isSamePolicy(labelled({ audit: 'baseline' }).policy, openPolicy)).toBe(false)
  })
})

describe('a configuration', () => {
  it('has defaults for what it does not say', () => {
    const { settings, errors } = readPodSecuritySettings({ defaults: { enforce: 'baseline', 'warn-version': 'v1.30' } })
    expect(errors).toEqual([])
    expect(textOf(settings.defaults)).toBe('baseline:latest privileged:latest privileged:v1.30')
  })

  it('is told all that is wrong with it', () => {
    const { errors } = readPodSecuritySettings({
      defaults: { enforce: 'x', 'audit-version': '9' },
      exemptions: { namespaces: ['A', 'b', 'b'], runtimeClasses: ['_'], usernames: ['', 'u', 'u'] },
    })
    expect(errors.map(({ field }) => field)).toEqual([
      'defaults.enforce', 'defaults.audit-version', 'exemptions.namespaces[0]', 'exemptions.namespaces[2]',
      'exemptions.runtimeClasses[0]',
      'exemptions.usernames[0]', 'exemptions.usernames[2]',
    ])
  })
})

describe('an update of a pod', () => {
  const pod = (): any => ({
    metadata: { name: 'p', annotations: { x: 'y' } },
    spec: {
      containers: [{ name: 'c', image: 'i' }],
      initContainers: [{ name: 'i', image: 'i' }],
      ephemeralContainers: [{ name: 'e', image: 'i' }],
    },
  })

  it.each<[string, (p: any) => void, boolean]>([
    ['nothing', () => {}, false],
    ['labels', (p) => (p.metadata.labels = { a: 'b' }), false],
    ['an annotation', (p) => (p.metadata.annotations.x = 'z'), false],
    ['tolerations', (p) => (p.spec.tolerations = [{ operator: 'Exists' }]), false],
    ['the deadline', (p) => (p.spec.activeDeadlineSeconds = 5), false],
    ['an image', (p) => (p.spec.containers[0].image = 'j'), true],
    ['the image of an init container', (p) => (p.spec.initContainers[0].image = 'j'), true],
    ['the image of an ephemeral container', (p) => (p.spec.ephemeralContainers[0].image = 'j'), true],
    ['a container more', (p) => p.spec.containers.push({ name: 'd', image: 'i' }), true],
    ['an init container less', (p) => p.spec.initContainers.pop(), true],
    ['an ephemeral container more', (p) => p.spec.ephemeralContainers.push({ name: 'f', image: 'i' }), true],
    ['an ephemeral container less', (p) => p.spec.ephemeralContainers.pop(), false],
    [
      'the profile of a container',
      (p) => (p.metadata.annotations['container.seccomp.security.alpha.kubernetes.io/c'] = 'x'),
      true,
    ],
    [
      'the profile of a container that is not there',
      (p) => (p.metadata.annotations['container.seccomp.security.alpha.kubernetes.io/z'] = 'x'),
      false,
    ],
  ])('that changes %s', (_, change, isSignificant) => {
    const changed = pod()
    change(changed)
    expect(isSignificantUpdate(changed as Pod, pod())).toBe(isSignificant)
  })
})

describe('a kind with pod templates', () => {
  const template = { spec: { containers: [] } }
  const inSpec = { metadata: {}, spec: { template } }

  it.each<[string, string, any]>([
    ['', 'replicationcontrollers', inSpec],
    ['', 'podtemplates', { metadata: {}, template }],
    ['apps', 'replicasets', inSpec],
    ['apps', 'deployments', inSpec],
    ['apps', 'statefulsets', inSpec],
    ['apps', 'daemonsets', inSpec],
    ['batch', 'jobs', inSpec],
    ['batch', 'cronjobs', { metadata: {}, spec: { jobTemplate: { spec: { template } } } }],
    ['apps.kruise.io', 'clonesets', inSpec],
  ])('%s %s', (group, plural, object) => {
    expect(templateReader(group, plural)!(object)).toBe(template)
  })

  it('is not one without them', () => {
    expect(templateReader('', 'configmaps')).toBeUndefined()
    expect(templateReader('batch', 'deployments')).toBeUndefined()
  })
})
