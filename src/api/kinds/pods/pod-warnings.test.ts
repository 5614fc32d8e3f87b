import { describe, expect, it } from 'vitest'
import { podWarnings } from './pod-warnings.ts'
import { samplePod } from './sample-pod.ts'

const container = (fields: object) => ({ containers: [{ name: 'c', image: 'i', ...fields }] })
const annotated = (key: string, value = '') => ({ metadata: { name: 'p', annotations: { [key]: value } } })
const term = { topologyKey: 'zone' }

interface Row {
  name: string
  spec?: Record<string, unknown>
  rest?: Record<string, unknown>
  said: string[]
}

const rows: Row[] = [
  { name: 'nothing', said: [] },
  {
    name: 'an old node label',
    spec: { nodeSelector: { 'beta.kubernetes.io/os': 'linux' } },
    said: ['spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead'],
  },
  {
    name: 'an old annotation',
    rest: annotated('scheduler.alpha.kubernetes.io/critical-pod'),
    said: [
      'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead',
    ],
  },
  {
    name: 'an AppArmor annotation',
    rest: annotated('container.apparmor.security.beta.kubernetes.io/c', 'unconfined'),
    said: [
      'metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead',
    ],
  },
  {
    name: 'a variable that hides another',
    spec: container({ env: [{ name: 'A', value: '1' }, { name: 'A', value: '2' }] }),
    said: ['spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply'],
  },
  {
    name: 'a variable that builds on another',
    spec: container({ env: [{ name: 'A', value: '1' }, { name: 'A', value: '$(A)2' }] }),
    said: [],
  },
  {
    name: 'a fraction of a byte',
    spec: container({ resources: { requests: { memory: '100m' } } }),
    said: ['spec.containers[0].resources.requests[memory]: fractional byte value "100m" is invalid, must be an integer'],
  },
  {
    name: 'a port twice',
    spec: container({ ports: [{ containerPort: 80 }, { containerPort: 80 }] }),
    said: ['spec.containers[0].ports[1]: duplicate port definition with spec.containers[0].ports[0]'],
  },
  {
    name: 'a port on one address and on all',
    spec: container({ ports: [{ containerPort: 80, hostPort: 1 }, { containerPort: 80, hostPort: 1, hostIP: '1.1.1.1' }] }),
    said: ['spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.containers[0].ports[0]'],
  },
  {
    name: 'an alias twice',
    spec: { hostAliases: [{ ip: '1.2.3.4' }, { ip: '1.2.3.4' }] },
    said: ['spec.hostAliases[1].ip: duplicate ip "1.2.3.4"'],
  },
  {
    name: 'a pull secret twice and one without name',
    spec: { imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}] },
    said: ['spec.imagePullSecrets[1].name: duplicate name "a"', 'spec.imagePullSecrets[2].name: invalid empty name ""'],
  },
  {
    name: 'affinity to no pod',
    spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
    said: [
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod',
    ],
  },
  {
    name: 'an old volume',
    spec: { volumes: [{ name: 'v', gitRepo: { repository: 'x' } }] },
    said: ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  },
  {
    name: 'files in one place',
    spec: { volumes: [{ name: 'v', configMap: { name: 'm', items: [{ key: 'k', path: 'p' }, { key: 'l', path: 'p' }] } }] },
    said: ['volume "v" (ConfigMap "m"): overlapping paths: "p" with "p"'],
  },
  {
    name: 'a negative grace period',
    spec: { terminationGracePeriodSeconds: -1 },
    said: ['spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1'],
  },
]

describe('podWarnings()', () => {
  it.each(rows)('$name', ({ spec, rest, said }) => {
    expect(podWarnings(samplePod(spec, rest))).toEqual(said)
  })

  it('warns of a name that is no label', () => {
    expect(podWarnings(samplePod({}, { metadata: { name: 'a.b' } }))[0]).toMatch(/^metadata\.name: this is used in the Pod's hostname/)
  })
})
