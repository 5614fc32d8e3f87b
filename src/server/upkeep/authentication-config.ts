import { deepEqual } from '../../api/deep-equal.ts'
import { isAlreadyExists } from '../../api/errors.ts'
import type { ConfigMap } from '../../api/generated/types.ts'
import type { FrontProxyConfig } from '../auth/authenticators/front-proxy.ts'
import type { Logger } from '../../base/logger.ts'
import type { ServerObjects } from '../objects/objects.ts'
import { configmaps } from '../resources/core/configmaps.ts'

const namespace = 'kube-system'
const name = 'extension-apiserver-authentication'

/** The CA certificates of clients, in PEM. */
export interface ClientAuthorities {
  /** CAs of user certificates. */
  clients: string
  /** CAs of the front proxy, whose requests name the user in headers. */
  proxies: string
  /** The front proxy's headers. Default: Kubernetes' names. */
  headers?: FrontProxyConfig | undefined
}

const listText = (...items: string[]): string => JSON.stringify(items)

/** The data of the ConfigMap extension-apiserver-authentication, in kube-apiserver's format. */
const authenticationData = ({ clients, proxies, headers }: ClientAuthorities): Record<string, string> => ({
  'client-ca-file': clients,
  'requestheader-allowed-names': listText(...(headers?.allowedNames ?? ['front-proxy-client'])),
  'requestheader-client-ca-file': proxies,
  'requestheader-extra-headers-prefix': listText(...(headers?.extraHeaderPrefixes ?? ['X-Remote-Extra-'])),
  'requestheader-group-headers': listText(...(headers?.groupHeaders ?? ['X-Remote-Group'])),
  'requestheader-username-headers': listText(...(headers?.usernameHeaders ?? ['X-Remote-User'])),
})

/** Writes the ConfigMap extension-apiserver-authentication, now and after any change of it. */
export async function keepAuthenticationConfig(
  objects: ServerObjects,
  authorities: ClientAuthorities,
  logger: Logger,
): Promise<void> {
  const wanted = authenticationData(authorities)
  await publish(objects, wanted)
  objects.follow('', 'configmaps', (change) => {
    if (change.namespace !== namespace || change.name !== name) return
    if (isRight(change.object() as ConfigMap | undefined, wanted)) return
    Promise.resolve()
      .then(() => publish(objects, wanted))
      .catch((error: unknown) =>
        logger.warn('failed to publish the authentication configuration of extension servers', { error }),
      )
  })
}

/** Keeps the certificates of other servers on the same store: otherwise servers would overwrite each other forever. */
const combined = (data: Record<string, string>, wanted: Record<string, string>): Record<string, string> => ({
  ...data,
  ...Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => [
      key,
      key.endsWith('-ca-file') ? withCertificates(data[key] ?? '', value) : value,
    ]),
  ),
})

const withCertificates = (known: string, added: string): string =>
  known.includes(added.trim()) ? known : [known.trimEnd(), added].filter((text) => text !== '').join('\n')

const isRight = (found: ConfigMap | undefined, wanted: Record<string, string>): boolean =>
  found !== undefined && deepEqual(combined(found.data ?? {}, wanted), found.data)

async function publish(objects: ServerObjects, wanted: Record<string, string>): Promise<void> {
  if (!objects.has('', 'configmaps', namespace, name)) {
    try {
      await objects.create(configmaps, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace },
        data: wanted,
      } as ConfigMap)
      return
    } catch (e) {
      if (!isAlreadyExists(e)) throw e
    }
  }
  await objects.update<ConfigMap>(configmaps, namespace, name, (copy, stored) => {
    return isRight(stored, wanted) ? stored : { ...copy, data: combined(copy.data ?? {}, wanted) }
  })
}
