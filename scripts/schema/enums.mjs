// The values of strings whose Go types are marked as enumerations, which OpenAPI lists. Many Go types with constants
// are not marked: OpenAPI allows any string for their fields.
import { goTypes } from './go-types.mjs'

const upTo = (count, name) => Array.from({ length: count }, (_, at) => name(at + 1)).join(' ')
const signals =
  'SIGABRT SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT SIGFPE SIGHUP SIGILL SIGINT SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT ' +
  'SIGRTMAX SIGRTMIN SIGSEGV SIGSTKFLT SIGSTOP SIGSYS SIGTERM SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM SIGWINCH ' +
  `SIGXCPU SIGXFSZ ${upTo(14, (n) => `SIGRTMAX-${n}`)} ${upTo(15, (n) => `SIGRTMIN+${n}`)}`

const valuesByType = {
  'v1.AddressType': 'FQDN IPv4 IPv6',
  'v1.AppArmorProfileType': 'Localhost RuntimeDefault Unconfined',
  'v1.AzureDataDiskCachingMode': 'None ReadOnly ReadWrite',
  'v1.AzureDataDiskKind': 'Dedicated Managed Shared',
  'v1.ClaimResourceStatus':
    'ControllerResizeInProgress ControllerResizeInfeasible NodeResizeInProgress NodeResizeInfeasible NodeResizePending',
  'v1.CompletionMode': 'Indexed NonIndexed',
  'v1.ConcurrencyPolicy': 'Allow Forbid Replace',
  'v1.DNSPolicy': 'ClusterFirst ClusterFirstWithHostNet Default None',
  'v1.DaemonSetUpdateStrategyType': 'OnDelete RollingUpdate',
  'v1.DeploymentStrategyType': 'Recreate RollingUpdate',
  'v1.FailurePolicyType': 'Fail Ignore',
  'v1.DeviceTaintEffect': 'NoExecute NoSchedule None',
  'v1.DeviceTolerationOperator': 'Equal Exists',
  'v1.HostPathType': 'BlockDevice CharDevice Directory DirectoryOrCreate File FileOrCreate Socket',
  'v1.IPFamily': 'IPv4 IPv6',
  'v1.IPFamilyPolicy': 'PreferDualStack RequireDualStack SingleStack',
  'v1.MatchPolicyType': 'Equivalent Exact',
  'v1.MountPropagationMode': 'Bidirectional HostToContainer None',
  'v1.NamespacePhase': 'Active Terminating',
  'v1.NodeInclusionPolicy': 'Honor Ignore',
  'v1.NodePhase': 'Pending Running Terminated',
  'v1.NodeSelectorOperator': 'DoesNotExist Exists Gt In Lt NotIn',
  'v1.OperationType': '* CONNECT CREATE DELETE UPDATE',
  'v1.ParameterNotFoundActionType': 'Allow Deny',
  'v1.PatchType': 'ApplyConfiguration JSONPatch',
  'v1.PathType': 'Exact ImplementationSpecific Prefix',
  'v1.PersistentVolumeAccessMode': 'ReadOnlyMany ReadWriteMany ReadWriteOnce ReadWriteOncePod',
  'v1.PersistentVolumeClaimModifyVolumeStatus': 'InProgress Infeasible Pending',
  'v1.PersistentVolumeClaimPhase': 'Bound Lost Pending',
  'v1.PersistentVolumeMode': 'Block Filesystem',
  'v1.PersistentVolumePhase': 'Available Bound Failed Pending Released',
  'v1.PersistentVolumeReclaimPolicy': 'Delete Recycle Retain',
  'v1.PodFSGroupChangePolicy': 'Always OnRootMismatch',
  'v1.PodFailurePolicyAction': 'Count FailIndex FailJob Ignore',
  'v1.PodFailurePolicyOnExitCodesOperator': 'In NotIn',
  'v1.PodManagementPolicyType': 'OrderedReady Parallel',
  'v1.PodPhase': 'Failed Pending Running Succeeded Unknown',
  'v1.PodQOSClass': 'BestEffort Burstable Guaranteed',
  'v1.PodReplacementPolicy': 'Failed TerminatingOrFailed',
  'v1.PolicyType': 'Egress Ingress',
  'v1.PreemptionPolicy': 'Never PreemptLowerPriority',
  'v1.ProcMountType': 'Default Unmasked',
  'v1.Protocol': 'SCTP TCP UDP',
  'v1.PullPolicy': 'Always IfNotPresent Never',
  'v1.ReinvocationPolicyType': 'IfNeeded Never',
  'v1.ResourceQuotaScope':
    'BestEffort CrossNamespacePodAffinity NotBestEffort NotTerminating PriorityClass Terminating VolumeAttributesClass',
  'v1.RestartPolicy': 'Always Never OnFailure',
  'v1.ScopeSelectorOperator': 'DoesNotExist Exists In NotIn',
  'v1.ScopeType': '* Cluster Namespaced',
  'v1.SeccompProfileType': 'Localhost RuntimeDefault Unconfined',
  'v1.ServiceAffinity': 'ClientIP None',
  'v1.ServiceExternalTrafficPolicy': 'Cluster Local',
  'v1.ServiceInternalTrafficPolicy': 'Cluster Local',
  'v1.ServiceType': 'ClusterIP ExternalName LoadBalancer NodePort',
  'v1.SideEffectClass': 'None NoneOnDryRun Some Unknown',
  'v1.Signal': signals,
  'v1.StatefulSetUpdateStrategyType': 'OnDelete RollingUpdate',
  'v1.SupplementalGroupsPolicy': 'Merge Strict',
  'v1.TaintEffect': 'NoExecute NoSchedule PreferNoSchedule',
  'v1.TerminationMessagePolicy': 'FallbackToLogsOnError File',
  'v1.TolerationOperator': 'Equal Exists Gt Lt',
  'v1.URIScheme': 'HTTP HTTPS',
  'v1.UnhealthyPodEvictionPolicyType': 'AlwaysAllow IfHealthyBudget',
  'v1.UnsatisfiableConstraintAction': 'DoNotSchedule ScheduleAnyway',
  'v1.ValidationAction': 'Audit Deny Warn',
  'v1.VolumeBindingMode': 'Immediate WaitForFirstConsumer',
}

/** Types with a constant for the empty string. */
const withEmpty = new Set(['v1.HostPathType', 'v1.IPFamily'])

for (const type of Object.keys(valuesByType)) {
  if (!Object.values(goTypes).includes(type)) throw new Error(`a table has values of ${type}, which no field is of`)
}

const valuesOf = (type) => [...(withEmpty.has(type) ? [''] : []), ...valuesByType[type].split(' ')].sort()

/** The values of a string, or of the strings in a list or map, by `Type.field`, in Kubernetes' order. */
export const enums = Object.fromEntries(
  Object.entries(goTypes)
    .filter(([, type]) => valuesByType[type])
    .map(([field, type]) => [field, valuesOf(type)]),
)
