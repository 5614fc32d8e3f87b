import { type Command, Option } from 'commander'
import type { EtcdFlags, StoreDriver } from '../../cluster/index.ts'
import { list, something } from './flag-values.ts'

/** Adds the flags of the store. */
export function addStoreFlags(command: Command): Command {
  return command
    .option('--data-dir <dir>', 'directory of all data', something, './.coxswain')
    .addOption(new Option('--store <driver>', 'storage driver').choices(['lmdb', 'memory', 'etcd']).default('lmdb'))
    .option(
      '--etcd-servers <urls>',
      'client URLs of etcd, for --store etcd: http(s)://host:port, separated by commas',
      list,
    )
    .option('--etcd-cafile <file>', "certificate authorities of etcd's certificates, in PEM")
    .option('--etcd-certfile <file>', 'client certificate for etcd, in PEM')
    .option('--etcd-keyfile <file>', 'private key of that certificate, in PEM')
    .option('--etcd-prefix <prefix>', 'prefix of all keys in etcd', something, '/registry')
}

/** The store flags as parsed by commander. */
interface ParsedStoreFlags {
  dataDir: string
  store: StoreDriver
  etcdServers?: string[]
  etcdCafile?: string
  etcdCertfile?: string
  etcdKeyfile?: string
  etcdPrefix: string
}

export interface StoreFlags {
  dataDir: string
  store: StoreDriver
  etcd: EtcdFlags | undefined
}

/** Reads the store flags. Throws if they contradict each other. */
export function readStoreFlags(command: Command): StoreFlags {
  const { dataDir, store, ...flags } = command.opts<ParsedStoreFlags>()
  return { dataDir, store, etcd: readEtcdFlags(store, flags) }
}

function readEtcdFlags(store: StoreDriver, flags: Omit<ParsedStoreFlags, 'dataDir' | 'store'>): EtcdFlags | undefined {
  const {
    etcdServers: servers,
    etcdCafile: caFile,
    etcdCertfile: certFile,
    etcdKeyfile: keyFile,
    etcdPrefix: prefix,
  } = flags
  if (store !== 'etcd') {
    if (servers) throw new Error('--etcd-servers: only with --store etcd')
    return undefined
  }
  if (!servers?.length) throw new Error('--etcd-servers must be specified')
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new Error('--etcd-certfile and --etcd-keyfile must be specified together')
  return { servers, caFile, certFile, keyFile, prefix }
}
