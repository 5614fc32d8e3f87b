import { inject } from 'vitest'

// See `storeFlags` of test/kubectl/coxswain.ts.
process.env['COXSWAIN_TEST_ETCD'] = inject('etcdServers')
