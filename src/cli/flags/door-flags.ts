import { type Command, Option } from 'commander'
import { type DoorOptions, type Serving, isLoopback } from '../../cluster/index.ts'
import { bool, hostList, pathList } from './flag-values.ts'

interface ParsedFlags {
  bindAddress: string
  dataDir: string
  tlsCertFile?: string
  tlsPrivateKeyFile?: string
  tlsNames: string[]
  clientCaFile?: string
  insecureHttp: boolean
  authorizeScrapes?: boolean
  authorizationAlwaysAllowPaths: string[]
}

/** Adds the flags of the health and metrics endpoint, with Kubernetes' names where they exist. */
export const addDoorFlags = (command: Command): Command =>
  command
    .option(
      '--tls-cert-file <file>',
      'serving certificate, in PEM; reloaded every minute (default: issued by an authority in --data-dir, pki/ca.crt)',
    )
    .option('--tls-private-key-file <file>', 'private key of that certificate, in PEM')
    .option(
      '--tls-names <names>',
      'names and addresses in the certificate that the authority in --data-dir issues',
      hostList,
      [],
    )
    .option('--client-ca-file <file>', 'certificate authorities of client certificates, in PEM')
    .option('--insecure-http', 'serve HTTP without TLS; only on a loopback address', false)
    .addOption(
      new Option(
        '--authorize-scrapes [bool]',
        'authenticate and authorize readers of metrics by TokenReview and SubjectAccessReview (default: unless the address is loopback)',
      )
        .argParser(bool)
        .preset('true'),
    )
    .option(
      '--authorization-always-allow-paths <paths>',
      'paths that need no authorization; a path may end in *',
      pathList,
      ['/healthz', '/readyz', '/livez'],
    )

/** Reads those flags. Throws an error that names the invalid flag. */
export function readDoorFlags(command: Command): DoorOptions {
  const flags = command.opts<ParsedFlags>()
  const { clientCaFile, authorizeScrapes = !isLoopback(flags.bindAddress), authorizationAlwaysAllowPaths } = flags
  if (!authorizeScrapes && command.getOptionValueSource('authorizationAlwaysAllowPaths') !== 'default')
    throw new Error(
      '--authorization-always-allow-paths: everybody may read every path here; use --authorize-scrapes to authorize readers of other paths',
    )
  return {
    serving: servingOf(flags),
    ...(clientCaFile === undefined ? {} : { clientCaFile }),
    ...(authorizeScrapes ? { alwaysAllowPaths: authorizationAlwaysAllowPaths } : {}),
  }
}

function servingOf({
  tlsCertFile,
  tlsPrivateKeyFile,
  tlsNames,
  insecureHttp,
  bindAddress,
  dataDir,
  clientCaFile,
}: ParsedFlags): Serving {
  if (insecureHttp) {
    const certificates = {
      '--tls-cert-file': tlsCertFile,
      '--tls-private-key-file': tlsPrivateKeyFile,
      '--tls-names': tlsNames[0],
      '--client-ca-file': clientCaFile,
    }
    const [useless] = Object.entries(certificates).find(([, value]) => value !== undefined) ?? []
    if (useless) throw new Error(`--insecure-http: there is no certificate without TLS; leave ${useless} out`)
    if (!isLoopback(bindAddress))
      throw new Error(`--insecure-http: ${bindAddress} is not a loopback address: others could read the traffic`)
    return { kind: 'plain' }
  }
  if (tlsCertFile === undefined && tlsPrivateKeyFile === undefined)
    return { kind: 'authority', dir: dataDir, names: tlsNames }
  if (tlsCertFile === undefined || tlsPrivateKeyFile === undefined)
    throw new Error('--tls-cert-file and --tls-private-key-file must be specified together')
  if (tlsNames.length > 0)
    throw new Error('--tls-names: the certificate in --tls-cert-file has its names; leave one of both out')
  return { kind: 'files', certificate: tlsCertFile, key: tlsPrivateKeyFile }
}
