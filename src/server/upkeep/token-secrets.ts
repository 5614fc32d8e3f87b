import { deepEqual } from '../../api/deep-equal.ts'
import { isNotFound } from '../../api/errors.ts'
import type { Secret, ServiceAccount } from '../../api/generated/types.ts'
import type { Logger } from '../../base/logger.ts'
import { legacyClaims } from '../auth/authenticators/legacy-tokens.ts'
import type { ServiceAccountTokens } from '../auth/service-account-tokens.ts'
import type { Objects } from '../objects/objects.ts'
import { secrets } from '../resources/core/secrets.ts'

const tokenType = 'kubernetes.io/service-account-token'
const nameAnnotation = 'kubernetes.io/service-account.name'
const uidAnnotation = 'kubernetes.io/service-account.uid'

interface Around {
  objects: Objects
  tokens: ServiceAccountTokens
  /** `ca.crt` of each Secret; undefined leaves it out. */
  rootCa: string | undefined
  logger: Logger
}

const base64 = (text: string) => Buffer.from(text).toString('base64')

/**
 * True if a Secret belongs to the account. Its annotation with the account's uid is absent until the Secret is filled.
 */
const isOf = ({ metadata }: Secret, account: ServiceAccount): boolean => {
  const uid = metadata.annotations?.[uidAnnotation]
  return !uid || uid === account.metadata.uid
}

/** Adds missing data to the Secret. An existing token is kept. */
function filled(
  secret: Secret,
  account: ServiceAccount,
  { tokens, rootCa }: Pick<Around, 'tokens' | 'rootCa'>,
): Secret {
  const { name = '', namespace = '', annotations = {} } = secret.metadata
  const data = {
    ...secret.data,
    namespace: base64(namespace),
    ...(rootCa ? { 'ca.crt': base64(rootCa) } : {}),
    token: secret.data?.['token'] || base64(tokens.sign(legacyClaims(account, name))),
  }
  const named = { ...annotations, [nameAnnotation]: account.metadata.name!, [uidAnnotation]: account.metadata.uid! }
  return { ...secret, metadata: { ...secret.metadata, annotations: named }, data }
}

/**
 * Fills Secrets of type kubernetes.io/service-account-token, and deletes those of deleted accounts. Kubernetes'
 * controller manager does this; here it is the API server, because only it has the key. The returned function stops it.
 */
export function keepTokenSecrets(around: Around): () => void {
  const { objects, logger } = around
  let isEnded = false
  const keep = (namespace: string, name: string) => {
    if (isEnded) return
    keepOne(around, namespace, name).catch((error: unknown) => {
      if (!isNotFound(error))
        logger.warn('failed to update a service account token Secret', { secret: `${namespace}/${name}`, error })
    })
  }
  const later = (namespace: string, name: string) => queueMicrotask(() => keep(namespace, name))
  objects.follow('', 'secrets', (change) => {
    const secret = change.object() as Secret | undefined
    if (secret?.type === tokenType && !isWhole(around, secret)) later(change.namespace, change.name)
  })
  objects.follow('', 'serviceaccounts', (change) => {
    const { namespace, name } = change
    for (const { metadata } of ofAccount(objects, namespace, name)) later(namespace, metadata.name!)
  })
  for (const { type, metadata } of objects.list<Secret>('', 'secrets', '')) {
    if (type === tokenType) later(metadata.namespace!, metadata.name!)
  }
  return () => void (isEnded = true)
}

const ofAccount = (objects: Objects, namespace: string, name: string): Secret[] =>
  objects
    .list<Secret>('', 'secrets', namespace)
    .filter(({ type, metadata }) => type === tokenType && metadata.annotations?.[nameAnnotation] === name)

function accountOf(objects: Objects, { metadata }: Secret): ServiceAccount | undefined {
  const { namespace = '', annotations } = metadata
  return objects.get<ServiceAccount>('', 'serviceaccounts', namespace, annotations?.[nameAnnotation] ?? '')
}

/** True if a Secret is complete. Prevents a loop: the server's own writes also arrive through `follow`. */
function isWhole(around: Around, secret: Secret): boolean {
  const account = accountOf(around.objects, secret)
  return account !== undefined && isOf(secret, account) && deepEqual(filled(secret, account, around), secret)
}

async function keepOne(around: Around, namespace: string, name: string): Promise<void> {
  const { objects } = around
  const secret = objects.get<Secret>('', 'secrets', namespace, name)
  if (secret?.type !== tokenType || secret.metadata.deletionTimestamp) return
  const account = accountOf(objects, secret)
  if (!account || !isOf(secret, account)) {
    const { uid, resourceVersion } = secret.metadata
    const preconditions = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
    await objects.delete(secrets, namespace, name, { preconditions })
    return
  }
  await objects.update<Secret>(secrets, namespace, name, (copy, stored) => {
    const whole = filled(copy, account, around)
    return deepEqual(whole, stored) ? stored : whole
  })
}
