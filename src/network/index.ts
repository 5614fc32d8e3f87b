export { ServiceForwarding, openFailure } from './forwarding/service-forwarding.ts'
export { ServiceProxy } from './service-proxy.ts'
export type { ServiceBackend, ServiceReports } from './service-proxy.ts'

export type { Target } from './routes/routes.ts'

export { ClusterDns } from './dns/cluster-dns.ts'

export { NftablesBackend } from './nftables/nftables-backend.ts'
