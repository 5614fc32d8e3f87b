import { describe, expect, it } from 'vitest'
import { podProblems } from '../pods/sample-pod.ts'

const container = (fields: Record<string, unknown>) => ({ containers: [{ name: 'c', image: 'i', ...fields }] })
const init = (fields: Record<string, unknown>) => ({ initContainers: [{ name: 'x', image: 'i', ...fields }] })
const probe = (fields: Record<string, unknown>) => container({ livenessProbe: { tcpSocket: { port: 1 }, ...fields } })
const at = 'spec.containers[0]'

interface Row {
  name: string
  spec: Record<string, unknown>
  rest?: Record<string, unknown>
  wrong: string[]
}

const rows: Row[] = [
  { name: 'a minimal pod', spec: {}, wrong: [] },
  { name: 'no containers', spec: { containers: [] }, wrong: ['spec.containers: Required value'] },
  {
    name: 'two containers of one name',
    spec: { containers: [{ name: 'c', image: 'i' }, { name: 'c', image: 'i' }] },
    wrong: ['spec.containers[1].name: Duplicate value: "c"'],
  },
  {
    name: 'a container without name and image',
    spec: { containers: [{}] },
    wrong: [`${at}.name: Required value`, `${at}.image: Required value`],
  },
  {
    name: 'an image with blanks around it',
    spec: container({ image: ' i ' }),
    wrong: [`${at}.image: Invalid value: " i ": must not have leading or trailing whitespace`],
  },
  {
    name: 'an init container named like a container',
    spec: { initContainers: [{ name: 'c', image: 'i' }] },
    wrong: ['spec.initContainers[0].name: Duplicate value: "c"'],
  },
  {
    name: 'a probe on an init container',
    spec: init({ livenessProbe: { tcpSocket: { port: 1 } } }),
    wrong: ['spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without restartPolicy=Always'],
  },
  { name: 'a probe on a sidecar', spec: init({ restartPolicy: 'Always', livenessProbe: { tcpSocket: { port: 1 } } }), wrong: [] },
  {
    name: 'a pull policy that is none',
    spec: container({ imagePullPolicy: 'Maybe' }),
    wrong: [`${at}.imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"`],
  },
  {
    name: 'a termination message policy that is none',
    spec: container({ terminationMessagePolicy: 'x' }),
    wrong: [`${at}.terminationMessagePolicy: Unsupported value: "x": supported values: "File", "FallbackToLogsOnError"`],
  },
  {
    name: 'ephemeral containers from the start',
    spec: { ephemeralContainers: [{ name: 'e', image: 'i' }] },
    wrong: ['spec.ephemeralContainers: Forbidden: cannot be set on create'],
  },

  {
    name: 'a port twice under one name',
    spec: container({ ports: [{ name: 'a', containerPort: 1 }, { name: 'a', containerPort: 2 }] }),
    wrong: [`${at}.ports[1].name: Duplicate value: "a"`],
  },
  {
    name: 'a host port twice',
    spec: container({ ports: [{ containerPort: 1, hostPort: 5 }, { containerPort: 2, hostPort: 5 }] }),
    wrong: [`${at}.ports[1].hostPort: Duplicate value: "TCP//5"`],
  },
  {
    name: 'a host port twice for two protocols',
    spec: container({ ports: [{ containerPort: 1, hostPort: 5 }, { containerPort: 2, hostPort: 5, protocol: 'UDP' }] }),
    wrong: [],
  },
  {
    name: 'another host port on the host network',
    spec: { ...container({ ports: [{ containerPort: 80, hostPort: 81 }] }), hostNetwork: true },
    wrong: [`${at}.ports[0].hostPort: Invalid value: 81: must match \`containerPort\` when \`hostNetwork\` is true`],
  },

  { name: 'a variable without name', spec: container({ env: [{ value: 'x' }] }), wrong: [`${at}.env[0].name: Required value`] },
  {
    name: 'a variable with an equals sign',
    spec: container({ env: [{ name: 'a=b' }] }),
    wrong: [
      `${at}.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
    ],
  },
  {
    name: 'a variable from nothing',
    spec: container({ env: [{ name: 'A', valueFrom: {} }] }),
    wrong: [
      `${at}.env[0].valueFrom: Invalid value: "": must specify one of: \`fieldRef\`, \`resourceFieldRef\`, \`configMapKeyRef\`, \`secretKeyRef\` or \`fileKeyRef\``,
    ],
  },
  {
    name: 'a variable from two sources',
    spec: container(
      { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'metadata.name' }, secretKeyRef: { name: 's', key: 'k' } } }] },
    ),
    wrong: [`${at}.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time`],
  },
  {
    name: 'a variable from one label',
    spec: container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: "metadata.labels['a']" } } }] }),
    wrong: [],
  },
  {
    name: 'a variable from a field that is none',
    spec: container({ env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath: 'spec.x' } } }] }),
    wrong: [
      `${at}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting fieldPath: field label not supported: spec.x`,
    ],
  },
  {
    name: 'a variable from a resource that is none',
    spec: container({ env: [{ name: 'A', valueFrom: { resourceFieldRef: { resource: 'limits.x' } } }] }),
    wrong: [
      `${at}.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.x": supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu", "requests.ephemeral-storage", "requests.memory"`,
    ],
  },
  {
    name: 'variables from nowhere',
    spec: container({ envFrom: [{}] }),
    wrong: [`${at}.envFrom: Invalid value: "": must specify one of: \`configMapRef\` or \`secretRef\``],
  },

  {
    name: 'a probe without handler',
    spec: container({ readinessProbe: {} }),
    wrong: [`${at}.readinessProbe: Required value: must specify a handler type`],
  },
  {
    name: 'a probe with two handlers',
    spec: container({ livenessProbe: { exec: { command: ['x'] }, grpc: { port: 1 } } }),
    wrong: [`${at}.livenessProbe.grpc: Forbidden: may not specify more than 1 handler type`],
  },
  {
    name: 'a liveness probe that must succeed twice',
    spec: probe({ successThreshold: 2 }),
    wrong: [`${at}.livenessProbe.successThreshold: Invalid value: 2: must be 1`],
  },
  {
    name: 'a probe with a grace period of zero',
    spec: probe({ terminationGracePeriodSeconds: 0 }),
    wrong: [`${at}.livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0`],
  },
  {
    name: 'a hook that sleeps longer than the grace period',
    spec: { ...container({ lifecycle: { preStop: { sleep: { seconds: 31 } } } }) },
    wrong: [
      `${at}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than terminationGracePeriodSeconds (30)`,
    ],
  },

  {
    name: 'a request above its limit',
    spec: container({ resources: { limits: { cpu: '1' }, requests: { cpu: '2' } } }),
    wrong: [`${at}.resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`],
  },
  {
    name: 'a resource that containers cannot have',
    spec: container({ resources: { requests: { storage: '1Gi' } } }),
    wrong: [`${at}.resources.requests[storage]: Invalid value: "storage": must be a standard resource for containers`],
  },
  {
    name: 'an extended resource without limit',
    spec: container({ resources: { requests: { 'example.com/gpu': '1' } } }),
    wrong: [`${at}.resources.limits: Required value: Limit must be set for non overcommitable resources`],
  },
  { name: 'huge pages beside cpu', spec: container({ resources: { limits: { 'hugepages-2Mi': '4Mi', cpu: '1' } } }), wrong: [] },
  {
    name: 'huge pages alone',
    spec: container({ resources: { limits: { 'hugepages-2Mi': '4Mi' } } }),
    wrong: [`${at}.resources: Forbidden: HugePages require cpu or memory`],
  },
  {
    name: 'a claim twice',
    spec: {
      ...container({ resources: { claims: [{ name: 'x' }, { name: 'x' }] } }),
      resourceClaims: [{ name: 'x', resourceClaimName: 'y' }],
    },
    wrong: [`${at}.resources.claims[1]: Duplicate value: "x"`],
  },
  {
    name: 'a claim that is not there among others',
    spec: { ...container({ resources: { claims: [{ name: 'z' }] } }), resourceClaims: [{ name: 'x', resourceClaimName: 'y' }] },
    wrong: [`${at}.resources.claims[0]: Not found: "z": must be one of the names in pod.spec.resourceClaims: x`],
  },
  {
    name: 'a resource the pod as a whole cannot have',
    spec: { resources: { limits: { 'ephemeral-storage': '1Gi' } } },
    wrong: [
      'spec.resources.limits[ephemeral-storage]: Unsupported value: "ephemeral-storage": supported values: "cpu", "hugepages-", "memory"',
    ],
  },
]

describe('the containers of a pod', () => {
  it.each(rows)('$name', ({ spec, rest, wrong }) => {
    expect(podProblems(spec, rest)).toEqual(wrong)
  })
})
