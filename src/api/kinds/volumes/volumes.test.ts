import { describe, expect, it } from 'vitest'
import { podProblems } from '../pods/sample-pod.ts'

const container = (fields: Record<string, unknown>) => ({ containers: [{ name: 'c', image: 'i', ...fields }] })
const volume = (source: Record<string, unknown>) => ({ volumes: [{ name: 'v', ...source }] })
const mount = (fields: Record<string, unknown>) => ({
  ...container({ volumeMounts: [{ name: 'v', mountPath: '/v', ...fields }] }),
  volumes: [{ name: 'v' }],
})
const at = 'spec.containers[0]'

interface Row {
  name: string
  spec: Record<string, unknown>
  rest?: Record<string, unknown>
  wrong: string[]
}

const rows: Row[] = [
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
]

describe('the volumes of a pod and their mounts', () => {
  it.each(rows)('$name', ({ spec, rest, wrong }) => {
    expect(podProblems(spec, rest)).toEqual(wrong)
  })
})
