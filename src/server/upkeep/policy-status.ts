import { isConflict, isNotFound } from '../../api/errors.ts'
import type { ValidatingAdmissionPolicy } from '../../api/generated/types.ts'
import type { Logger } from '../../base/logger.ts'
import { typeWarnings } from '../admission/policies/type-checking.ts'
import type { ServerParts } from '../requests/request.ts'

const group = 'admissionregistration.k8s.io'
const plural = 'validatingadmissionpolicies'

const isStale = ({ metadata, status }: ValidatingAdmissionPolicy): boolean => (metadata.generation ?? 0) > (status.observedGeneration ?? 0)

/** Checks the types of each policy when its spec has changed, and says in its status what was found. */
export function keepPolicyStatus({ access, registry }: ServerParts, logger: Logger): () => void {
  const place = registry.stored(group, plural)
  let isEnded = false
  const write = async (name: string): Promise<void> => {
    try {
      await access.update<ValidatingAdmissionPolicy>(place!.resource, '', name, (copy, stored) => {
        if (isEnded || !isStale(copy)) return stored
        const expressionWarnings = typeWarnings(copy, registry)
        const typeChecking = expressionWarnings.length ? { expressionWarnings } : {}
        copy.status = { ...copy.status, observedGeneration: copy.metadata.generation, typeChecking }
        return copy
      })
    } catch (error) {
      if (!isEnded && !isNotFound(error) && !isConflict(error)) logger.warn('the status of a policy could not be written', { name, error })
    }
  }
  if (!place) return () => {}
  for (const policy of access.list<ValidatingAdmissionPolicy>(group, plural, '')) if (isStale(policy)) void write(policy.metadata.name!)
  access.follow(group, plural, ({ name, object }) => {
    const policy = object() as ValidatingAdmissionPolicy | undefined
    if (policy && isStale(policy)) void write(name)
  })
  return () => {
    isEnded = true
  }
}
