import type { PodResourceClaim } from '../../generated/types.ts'
import { type FieldError, duplicate, invalid, required } from '../../validation/field-error.ts'
import { isDns1123Label, isDns1123Subdomain } from '../../validation/names.ts'
import type { Path } from '../../validation/path.ts'

const none: ReadonlySet<string> = new Set()

/** Claim names that containers can refer to. */
export const claimNames = (claims: readonly PodResourceClaim[] | undefined): ReadonlySet<string> =>
  claims?.length ? new Set(claims.map((claim) => claim.name).filter((name) => name !== '')) : none

/** A claim as Kubernetes' messages print it. */
const internalForm = (claim: PodResourceClaim) => ({
  Name: claim.name,
  ResourceClaimName: claim.resourceClaimName ?? null,
  ResourceClaimTemplateName: claim.resourceClaimTemplateName ?? null,
})

/** Validates a pod's resource claims: each names a claim or a claim template. */
export function validateResourceClaims(claims: readonly PodResourceClaim[], path: Path, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, claim] of claims.entries()) {
    const at = path.index(i)
    if (!claim.name) errors.push(required(at.child('name')))
    else if (seen.has(claim.name)) errors.push(duplicate(at.child('name'), claim.name))
    else for (const problem of isDns1123Label(claim.name)) errors.push(invalid(at.child('name'), claim.name, problem))
    seen.add(claim.name)
    const { resourceClaimName: name, resourceClaimTemplateName: template } = claim
    if (name !== undefined && template !== undefined) {
      errors.push(
        invalid(
          at,
          internalForm(claim),
          'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
        ),
      )
    }
    if (name === undefined && template === undefined) {
      errors.push(
        invalid(at, internalForm(claim), 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'),
      )
    }
    if (name !== undefined) {
      for (const problem of isDns1123Subdomain(name)) errors.push(invalid(at.child('resourceClaimName'), name, problem))
    }
    if (template !== undefined) {
      for (const problem of isDns1123Subdomain(template)) {
        errors.push(invalid(at.child('resourceClaimTemplateName'), template, problem))
      }
    }
  }
}
