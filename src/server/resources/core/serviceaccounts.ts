import { kindNames } from '../../../api/kind-names.ts'
import type { ServiceAccount } from '../../../api/generated/types.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const mountableSecrets = 'kubernetes.io/enforce-mountable-secrets'

/** Reduces secret references to their names. */
function keepSecretNames(account: ServiceAccount): void {
  if (account.secrets) account.secrets = account.secrets.map(({ name }) => ({ name }))
}

/** core/v1 ServiceAccounts. */
export const serviceaccounts = defineResource<ServiceAccount>({
  ...kindNames.serviceaccounts,
  nameRule: subdomainName,
  prepareForCreate: keepSecretNames,
  prepareForUpdate: keepSecretNames,
  validate: () => [],
  validateUpdate: () => [],
  warnings: (account, old) => {
    const isSet = account.metadata.annotations?.[mountableSecrets] !== undefined
    if (!isSet || old?.metadata.annotations?.[mountableSecrets] !== undefined) return []
    const why = 'deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets'
    return [`metadata.annotations[${mountableSecrets}]: ${why}`]
  },
  deleteAnswersObject: true,
  columns: [nameColumn(), ageColumn()],
})
