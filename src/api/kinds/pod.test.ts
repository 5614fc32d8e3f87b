import { describe, expect, it } from 'vitest'
import { validatePodCreate } from './pod.ts'
import { preparePodForCreate } from './pod-prepare.ts'
import { samplePod } from './sample-pod.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

/** What is wrong with a pod of this spec: `field: message`, shortened to what comes before a pattern is explained. */
function problems(spec: Record<string, unknown>, rest: Record<string, unknown> = {}): string[] {
  const pod = samplePod(spec, rest)
  preparePodForCreate(pod, now)
  return validatePodCreate(pod).map((e) => `${e.field}: ${e.message}`)
}

const container = (fields: Record<string, unknown>) => ({ containers: [{ name: 'c', image: 'i', ...fields }] })
const init = (fields: Record<string, unknown>) => ({ initContainers: [{ name: 'x', image: 'i', ...fields }] })
const volume = (source: Record<string, unknown>) => ({ volumes: [{ name: 'v', ...source }] })
const mount = (fields: Record<string, unknown>) => ({
  ...container({ volumeMounts: [{ name: 'v', mountPath: '/v', ...fields }] }),
  volumes: [{ name: 'v' }],
})
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

  {
    name: 'a mount of a volume that is not there',
    spec: container({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
    wrong: [`${at}.volumeMounts[0].name: Not found: "v"`],
  },
  {
    name: 'two mounts at one place',
    spec: {
      ...container({ volumeMounts: [{ name: 'v', mountPath: '/v' }, { name: 'v', mountPath: '/v' }] }),
      volumes: [{ name: 'v' }],
    },
    wrong: [`${at}.volumeMounts[1].mountPath: Invalid value: "/v": must be unique`],
  },
  {
    name: 'a mount with a sub-path that steps up',
    spec: mount({ subPath: '../x' }),
    wrong: [`${at}.volumeMounts.subPath: Invalid value: "../x": must not contain '..'`],
  },
  {
    name: 'recursive read-only with propagation',
    spec: mount({ readOnly: true, recursiveReadOnly: 'Enabled', mountPropagation: 'HostToContainer' }),
    wrong: [`${at}.volumeMounts.recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified`],
  },
  {
    name: 'a device of a volume without block mode',
    spec: { ...container({ volumeDevices: [{ name: 'v', devicePath: '/d' }] }), volumes: [{ name: 'v' }] },
    wrong: [
      `${at}.volumeDevices[0].name: Invalid value: "v": can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode`,
    ],
  },

  {
    name: 'two volumes of one name',
    spec: { volumes: [{ name: 'v' }, { name: 'v' }] },
    wrong: ['spec.volumes[1].name: Duplicate value: "v"'],
  },
  {
    name: 'a host path of a type that is none',
    spec: volume({ hostPath: { path: '/x', type: 'y' } }),
    wrong: [
      'spec.volumes[0].hostPath.type: Unsupported value: "y": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"',
    ],
  },
  {
    name: 'two downward API sources and what Kubernetes calls them',
    spec: volume({ emptyDir: {}, downwardAPI: {} }),
    wrong: ['spec.volumes[0].downwarAPI: Forbidden: may not specify more than 1 volume type'],
  },
  {
    name: 'a disk of an old cloud without name',
    spec: volume({ gcePersistentDisk: { partition: 256 } }),
    wrong: [
      'spec.volumes[0].persistentDisk.pdName: Required value',
      'spec.volumes[0].persistentDisk.partition: Invalid value: 256: must be between 1 and 255, inclusive',
    ],
  },
  {
    name: 'an iSCSI name that is none',
    spec: volume({ iscsi: { targetPortal: 'x', iqn: 'abc', lun: 256 } }),
    wrong: [
      'spec.volumes[0].iscsi.iqn: Invalid value: "abc": must be valid format starting with iqn, eui, or naa',
      'spec.volumes[0].iscsi.lun: Invalid value: 256: must be between 0 and 255, inclusive',
    ],
  },
  {
    name: 'fibre channel without targets',
    spec: volume({ fc: {} }),
    wrong: ['spec.volumes[0].fc.targetWWNs: Required value: must specify either targetWWNs or wwids, but not both'],
  },
  {
    name: 'a flex volume with reserved options',
    spec: volume({ flexVolume: { driver: 'd', options: { 'kubernetes.io/x': 'y' } } }),
    wrong: [
      'spec.volumes[0].flexVolume.options[kubernetes.io/x]: Invalid value: "kubernetes.io/x": kubernetes.io and k8s.io namespaces are reserved',
    ],
  },
  {
    name: 'a managed disk without its path',
    spec: volume({ azureDisk: { diskName: 'd', diskURI: 'x', kind: 'Managed' } }),
    wrong: [
      'spec.volumes[0].azureDisk.diskURI: Unsupported value: "x": supported values: "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"',
    ],
  },
  {
    name: 'an ephemeral volume and its claim by hand',
    spec: {
      volumes: [
        {
          name: 'v',
          ephemeral: {
            volumeClaimTemplate: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
          },
        },
        { name: 'w', persistentVolumeClaim: { claimName: 'p-v' } },
      ],
    },
    wrong: [
      'spec.volumes[1].persistentVolumeClaim.claimName: Invalid value: "p-v": must not reference a PVC that gets created for an ephemeral volume',
    ],
  },
  {
    name: 'a projected token without account',
    spec: volume({ projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }),
    wrong: [
      'spec.volumes[0].projected.sources[0].serviceAccountToken: Forbidden: must not be specified when serviceAccountName is not set',
    ],
  },
  {
    name: 'two kinds of projection in one source',
    spec: volume({ projected: { sources: [{ secret: { name: 's' }, configMap: { name: 'm' } }] } }),
    wrong: ['spec.volumes[0].projected.sources[0]: Forbidden: may not specify more than 1 volume type per source'],
  },

  {
    name: 'a privileged container',
    spec: container({ securityContext: { privileged: true } }),
    wrong: [`${at}.securityContext.privileged: Forbidden: disallowed by cluster policy`],
  },
  {
    name: 'an unmasked proc without users of its own',
    spec: container({ securityContext: { procMount: 'Unmasked' } }),
    wrong: [`${at}.securityContext.procMount: Invalid value: "Unmasked": \`hostUsers\` must be false to use \`Unmasked\``],
  },
  {
    name: 'a seccomp profile of the host without its path',
    spec: { securityContext: { seccompProfile: { type: 'Localhost' } } },
    wrong: ['spec.securityContext.seccompProfile.localhostProfile: Required value: must be set when seccomp type is Localhost'],
  },
  {
    name: 'an AppArmor profile padded with blanks',
    spec: { securityContext: { appArmorProfile: { type: 'Localhost', localhostProfile: ' x' } } },
    wrong: ['spec.securityContext.appArmorProfile.localhostProfile: Invalid value: " x": must not be padded with whitespace'],
  },
  {
    name: 'a Windows user with a wrong domain',
    spec: container({ securityContext: { windowsOptions: { runAsUserName: '.x?\\u' } } }),
    wrong: [
      `${at}.securityContext.windowsOptions.runAsUserName: Invalid value: ".x?\\\\u": runAsUserName's Domain doesn't match the NetBios nor the DNS format`,
    ],
  },
  {
    name: 'an ipc sysctl with the ipc of the host',
    spec: { hostIPC: true, securityContext: { sysctls: [{ name: 'kernel/shm_rmid_forced', value: '1' }] } },
    wrong: [
      'spec.securityContext.sysctls[0].name: Invalid value: "kernel/shm_rmid_forced": may not be specified when \'hostIPC\' is true',
    ],
  },
  {
    name: 'users of its own on the host network',
    spec: { hostUsers: false, hostNetwork: true },
    wrong: ['spec.hostNetwork: Forbidden: when `hostUsers` is false'],
  },

  {
    name: 'a restart policy that is none',
    spec: { restartPolicy: 'x' },
    wrong: ['spec.restartPolicy: Unsupported value: "x": supported values: "Always", "OnFailure", "Never"'],
  },
  {
    name: 'a dns policy that is none',
    spec: { dnsPolicy: 'x' },
    wrong: ['spec.dnsPolicy: Unsupported value: "x": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"'],
  },
  {
    name: 'a preemption policy that is none',
    spec: { preemptionPolicy: 'x' },
    wrong: ['spec.preemptionPolicy: Unsupported value: "x": supported values: "PreemptLowerPriority", "Never"'],
  },
  {
    name: 'gates on a pod that has a node',
    spec: { nodeName: 'n', schedulingGates: [{ name: 'g' }] },
    wrong: ['spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared'],
  },
  {
    name: 'a spread over one key twice',
    spec: { topologySpreadConstraints: [1, 2].map((maxSkew) => ({ maxSkew, topologyKey: 'z', whenUnsatisfiable: 'DoNotSchedule' })) },
    wrong: ['spec.topologySpreadConstraints[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"'],
  },
  {
    name: 'a spread by a key that its selector has',
    spec: {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'z',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { h: '1' } },
          matchLabelKeys: ['h'],
        },
      ],
    },
    rest: { metadata: { name: 'p', labels: { h: '1' } } },
    wrong: ['spec.topologySpreadConstraints[0][0]: Invalid value: "h": exists in both matchLabelKeys and labelSelector'],
  },
  {
    name: 'a toleration of everything with a value',
    spec: { tolerations: [{ operator: 'Exists', value: 'x' }] },
    wrong: ['spec.tolerations[0].operator: Invalid value: "x": value must be empty when `operator` is \'Exists\''],
  },
  {
    name: 'a toleration of an effect that is none',
    spec: { tolerations: [{ key: 'a', effect: 'x' }] },
    wrong: ['spec.tolerations[0].effect: Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"'],
  },
  {
    name: 'Linux options on Windows',
    spec: { os: { name: 'windows' }, securityContext: { fsGroup: 1 } },
    wrong: ['spec.securityContext.fsGroup: Forbidden: cannot be set for a windows pod'],
  },
  {
    name: 'an overridden host name beside its full name',
    spec: { hostnameOverride: 'a', setHostnameAsFQDN: true },
    wrong: ['spec.setHostnameAsFQDN: Forbidden: may not be specified when hostnameOverride is set'],
  },
  {
    name: 'restart rules without policy',
    spec: container({ restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [1] } }] }),
    wrong: [`${at}.restartPolicy: Required value: must specify restartPolicy when restart rules are used`],
  },

  {
    name: 'a mirror pod without node',
    spec: {},
    rest: { metadata: { name: 'p', annotations: { 'kubernetes.io/config.mirror': 'x' } } },
    wrong: [
      'metadata.annotations[kubernetes.io/config.mirror]: Invalid value: "x": must set spec.nodeName if mirror pod annotation is set',
    ],
  },
  {
    name: 'a deletion cost beyond 32 bits',
    spec: {},
    rest: { metadata: { name: 'p', annotations: { 'controller.kubernetes.io/pod-deletion-cost': '2147483648' } } },
    wrong: ['metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: "2147483648": must be a 32bit integer'],
  },
  {
    name: 'a seccomp annotation that contradicts the field',
    spec: { securityContext: { seccompProfile: { type: 'Unconfined' } } },
    rest: { metadata: { name: 'p', annotations: { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' } } },
    wrong: ['spec.securityContext.seccompProfile.type: Forbidden: seccomp type in annotation and field must match'],
  },
]

describe('validatePodCreate()', () => {
  it.each(rows)('$name', ({ spec, rest, wrong }) => {
    expect(problems(spec, rest)).toEqual(wrong)
  })
})

describe('preparePodForCreate()', () => {
  it('makes a pod pending, with its quality of service', () => {
    const pod = samplePod({}, { status: { phase: 'Running', podIP: '1.2.3.4' } })
    preparePodForCreate(pod, now)
    expect(pod.status).toEqual({ phase: 'Pending', qosClass: 'BestEffort' })
  })

  it('says that gates hold a pod back', () => {
    const pod = samplePod({ schedulingGates: [{ name: 'g' }] })
    preparePodForCreate(pod, now)
    expect(pod.status.conditions).toEqual([
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'SchedulingGated',
        message: 'Scheduling is blocked due to non-empty scheduling gates',
        lastProbeTime: null,
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ])
  })

  it('writes the values of matchLabelKeys and mismatchLabelKeys into the selectors', () => {
    const term = { topologyKey: 'z', labelSelector: {}, matchLabelKeys: ['a', 'absent'], mismatchLabelKeys: ['b'] }
    const pod = samplePod(
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } },
      { metadata: { name: 'p', labels: { a: '1', b: '2' } } },
    )
    preparePodForCreate(pod, now)
    expect(pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0]?.labelSelector).toEqual({
      matchExpressions: [
        { key: 'a', operator: 'In', values: ['1'] },
        { key: 'b', operator: 'NotIn', values: ['2'] },
      ],
    })
  })

  it('makes AppArmor annotations fields, and drops what is switched off', () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/c'
    const pod = samplePod(
      { containers: [{ name: 'c', image: 'i', lifecycle: { stopSignal: 'SIGTERM' } }], terminationGracePeriodSeconds: -5 },
      { metadata: { name: 'p', annotations: { [key]: 'localhost/x' } } },
    )
    preparePodForCreate(pod, now)
    expect(pod.spec.containers[0]?.securityContext).toEqual({ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } })
    expect(pod.spec.containers[0]?.lifecycle).toBeUndefined()
    expect(pod.spec.terminationGracePeriodSeconds).toBe(1)
  })
})
