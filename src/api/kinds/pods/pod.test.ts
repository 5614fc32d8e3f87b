import { describe, expect, it } from 'vitest'
import { preparePodForCreate } from './pod-prepare.ts'
import { podProblems, samplePod } from './sample-pod.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
const container = (fields: Record<string, unknown>) => ({ containers: [{ name: 'c', image: 'i', ...fields }] })
const at = 'spec.containers[0]'

interface Row {
  name: string
  spec: Record<string, unknown>
  rest?: Record<string, unknown>
  wrong: string[]
}

const rows: Row[] = [
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
    expect(podProblems(spec, rest)).toEqual(wrong)
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
