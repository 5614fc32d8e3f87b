import path from 'node:path'
import type { FeatureGates } from '../../api/feature-gates.ts'
import type { Logger } from '../../base/logger.ts'
import type { ConnectionLimits, FairnessSettings, ResourceSettings } from '../../server/index.ts'
import type { AuditFlags } from './audit.ts'
import type { AuthenticationFlags } from './authentication.ts'
import type { EncryptionFlags } from './encryption.ts'
import type { EtcdFlags, StoreDriver } from './open-store.ts'
import type { AuthorizationFlags } from './read-authorization.ts'
import type { RangePlace } from './service-range.ts'

/** The directory of the node in the data directory of `up`. */
export const nodeDirectoryOf = (dataDir: string): string => path.join(dataDir, 'node')

/** The flags of an API server. A comment that is a flag names the flag of a member. */
export interface ServeOptions {
  dataDir: string
  store: StoreDriver
  /** Required for the store `etcd`. */
  etcd?: EtcdFlags | undefined
  bindAddress: string
  securePort: number
  /** --service-cluster-ip-range */
  serviceRange?: string | undefined
  /** --service-node-port-range */
  nodePorts?: readonly [number, number] | undefined
  /** The required location of the Service range. Default: any. */
  rangePlace?: RangePlace
  /** --cluster-domain. Default: cluster.local. */
  clusterDomain?: string
  kubeconfigOut: string | undefined
  tokenAuthFile: string | undefined
  clientCaFile: string | undefined
  /** --enable-admission-plugins */
  enabledAdmission?: readonly string[]
  disabledAdmission: readonly string[]
  /** Default: Node and RBAC. */
  authorization?: AuthorizationFlags
  /** --admission-control-config-file */
  admissionConfigFile?: string | undefined
  gates: FeatureGates
  settings?: ResourceSettings
  fairness?: FairnessSettings
  connections?: ConnectionLimits
  /** --service-account-issuer: the first issues tokens, all are accepted. */
  tokenIssuers?: readonly string[]
  jwksUri?: string | undefined
  /** Other flags of authentication. */
  authentication?: AuthenticationFlags
  /** Undefined disables auditing. */
  audit?: AuditFlags | undefined
  /** Undefined stores values unencrypted. */
  encryption?: EncryptionFlags | undefined
  release: string
  logger: Logger
}
