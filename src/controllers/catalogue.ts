import type { SigningAuthority } from '../api/x509/index.ts'
import { clonesets } from '../client/index.ts'
import { bootstrapSigner } from './bootstrap-tokens/signer.ts'
import { tokenCleaner } from './bootstrap-tokens/cleaner.ts'
import { csrApprovingController } from './certificates/approving.ts'
import { csrCleanerController } from './certificates/cleaning.ts'
import { csrSigningController } from './certificates/signing.ts'
import { claimBinder } from './claim-binder/controller.ts'
import { volumeBinder } from './claim-binder/volumes.ts'
import { claimExpander } from './claim-expander/controller.ts'
import { attributesClassProtector, claimProtector, volumeProtector } from './claim-protection/controller.ts'
import { claimRecoveryController, forsakenPodController } from './claim-recovery/controller.ts'
import { cloneSetController } from './cloneset/controller.ts'
import { clusterRoleAggregationController } from './cluster-role-aggregation/controller.ts'
import { cronJobController } from './cronjob/controller.ts'
import { daemonSetController } from './daemonset/controller.ts'
import { deploymentController } from './deployment/controller.ts'
import { disruption } from './disruption/controller.ts'
import { staleDisruption } from './disruption/stale-target.ts'
import { endpointSlice } from './endpoint-slice/controller.ts'
import { endpoint } from './endpoints/controller.ts'
import { ephemeralVolumeController } from './ephemeral-volume/controller.ts'
import { garbageCollector } from './garbage-collector/controller.ts'
import { jobController } from './job/controller.ts'
import { orphanPodController } from './job/orphan-pods.ts'
import type { ManagedController, RivalLease } from './kit/index.ts'
import { localPathControllers } from './local-path-provisioner/index.ts'
import { namespaceController } from './namespace/controller.ts'
import { nodeLifecycle } from './node-lifecycle/controller.ts'
import { podGcController } from './pod-gc/controller.ts'
import { replicaSetController } from './replicaset/controller.ts'
import { replicationControllerController } from './replicationcontroller/controller.ts'
import { countedKinds } from './resource-quota/observe.ts'
import { customQuotaController } from './resource-quota/custom-kinds.ts'
import { quotaControllerOf, resourceQuotaController } from './resource-quota/controller.ts'
import { rootCaPublisher } from './root-ca/controller.ts'
import { serviceAccountController } from './service-account/controller.ts'
import { serviceCidrController } from './service-cidr/controller.ts'
import { statefulSetController } from './statefulset/controller.ts'
import { taintEviction } from './taint-eviction/controller.ts'
import { ttlAfterFinishedController } from './ttl-after-finished/controller.ts'

/** Settings of the controllers. */
export interface ControllerSettings {
  /** The certificates of the API server's authority, in PEM. */
  rootCa: string
  /** The time zone of schedules without one. */
  timeZone: string
  /** The directory on every node that contains local volumes. */
  volumesDir: string
  /** The authority that signs certificates, and their longest lifetime. Without it nothing is signed. */
  signing?: { authority: SigningAuthority; longestMs: number } | undefined
  /** False if CloneSets are not managed, so that nothing requests the kind. Default: true. */
  knowsCloneSets?: boolean
}

type Entry = ManagedController | readonly ManagedController[]

/** One or several controllers under one name. Some depend on the settings. */
export type CatalogueEntry = Entry | ((settings: ControllerSettings) => Entry)

/** The service account of each controller in kube-system, with Kubernetes' names. */
export const accounts: Readonly<Record<string, string>> = {
  'deployment-controller': 'deployment-controller',
  'replicaset-controller': 'replicaset-controller',
  'replicationcontroller-controller': 'replication-controller',
  'statefulset-controller': 'statefulset-controller',
  'daemonset-controller': 'daemon-set-controller',
  'cloneset-controller': 'cloneset-controller',
  'job-controller': 'job-controller',
  'cronjob-controller': 'cronjob-controller',
  'garbage-collector-controller': 'generic-garbage-collector',
  'namespace-controller': 'namespace-controller',
  'pod-garbage-collector-controller': 'pod-garbage-collector',
  'ttl-after-finished-controller': 'ttl-after-finished-controller',
  'resourcequota-controller': 'resourcequota-controller',
  'serviceaccount-controller': 'service-account-controller',
  'root-ca-certificate-publisher-controller': 'root-ca-cert-publisher',
  'clusterrole-aggregation-controller': 'clusterrole-aggregation-controller',
  'disruption-controller': 'disruption-controller',
  'endpointslice-controller': 'endpointslice-controller',
  'endpoints-controller': 'endpoint-controller',
  'node-lifecycle-controller': 'node-controller',
  'taint-eviction-controller': 'node-controller',
  'persistentvolume-binder-controller': 'persistent-volume-binder',
  'persistentvolume-expander-controller': 'expand-controller',
  'ephemeral-volume-controller': 'ephemeral-volume-controller',
  'persistentvolumeclaim-protection-controller': 'pvc-protection-controller',
  'persistentvolume-protection-controller': 'pv-protection-controller',
  'volumeattributesclass-protection-controller': 'volumeattributesclass-protection-controller',
  'claim-recovery-controller': 'claim-recovery-controller',
  'local-path-provisioner-controller': 'local-path-provisioner',
  'certificatesigningrequest-approving-controller': 'certificate-controller',
  'certificatesigningrequest-signing-controller': 'certificate-controller',
  'certificatesigningrequest-cleaner-controller': 'certificate-controller',
  'service-cidr-controller': 'service-cidrs-controller',
  'token-cleaner-controller': 'token-cleaner',
  'bootstrap-signer-controller': 'bootstrap-signer',
}

const kubernetesLease: RivalLease = { namespace: 'kube-system', name: 'kube-controller-manager' }

/**
 * The leases of other managers that run controllers of these names: OpenKruise's for CloneSets, none for our own,
 * otherwise Kubernetes'.
 */
const rivals: Readonly<Record<string, RivalLease | undefined>> = {
  'cloneset-controller': { namespace: 'kruise-system', name: 'kruise-manager' },
  'claim-recovery-controller': undefined,
  'local-path-provisioner-controller': undefined,
}

/** The lease of another manager that may run a controller. */
export const rivalOf = (name: string): RivalLease | undefined =>
  Object.hasOwn(rivals, name) ? rivals[name] : kubernetesLease

/** All controllers by the name that `--controllers` uses, sorted by the dependencies of their kinds. */
export const catalogue: Readonly<Record<string, CatalogueEntry>> = {
  'deployment-controller': deploymentController,
  'replicaset-controller': replicaSetController,
  'replicationcontroller-controller': replicationControllerController,
  'statefulset-controller': statefulSetController,
  'daemonset-controller': daemonSetController,
  'cloneset-controller': cloneSetController,
  'job-controller': [jobController, orphanPodController],
  'cronjob-controller': ({ timeZone }) => cronJobController(timeZone),
  'garbage-collector-controller': garbageCollector,
  'namespace-controller': namespaceController,
  'pod-garbage-collector-controller': podGcController,
  'ttl-after-finished-controller': ttlAfterFinishedController,
  'resourcequota-controller': ({ knowsCloneSets = true }) => [
    knowsCloneSets ? resourceQuotaController : quotaControllerOf(countedKinds.filter(({ type }) => type !== clonesets)),
    customQuotaController,
  ],
  'serviceaccount-controller': serviceAccountController,
  'root-ca-certificate-publisher-controller': ({ rootCa }) => rootCaPublisher(rootCa),
  'clusterrole-aggregation-controller': clusterRoleAggregationController,
  'certificatesigningrequest-approving-controller': csrApprovingController,
  'certificatesigningrequest-signing-controller': ({ signing }) =>
    signing ? csrSigningController(signing.authority, signing.longestMs) : [],
  'certificatesigningrequest-cleaner-controller': csrCleanerController,
  'token-cleaner-controller': tokenCleaner,
  'bootstrap-signer-controller': bootstrapSigner,
  'disruption-controller': [disruption, staleDisruption],
  'endpointslice-controller': endpointSlice,
  'endpoints-controller': endpoint,
  'service-cidr-controller': serviceCidrController,
  'node-lifecycle-controller': nodeLifecycle,
  'taint-eviction-controller': taintEviction,
  'persistentvolume-binder-controller': [claimBinder, volumeBinder],
  'persistentvolume-expander-controller': claimExpander,
  'ephemeral-volume-controller': ephemeralVolumeController,
  'persistentvolumeclaim-protection-controller': claimProtector,
  'persistentvolume-protection-controller': volumeProtector,
  'volumeattributesclass-protection-controller': attributesClassProtector,
  'claim-recovery-controller': [claimRecoveryController, forsakenPodController],
  'local-path-provisioner-controller': ({ volumesDir }) => localPathControllers(volumesDir),
}
