import { kindNames } from '../../../api/kind-names.ts'
import type { ResourceClaimTemplate } from '../../../api/generated/types.ts'
import { validateImmutableField } from '../../../api/validation/field-checks.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { validateAnnotations, validateLabels } from '../../../api/validation/object-meta.ts'
import { Path } from '../../../api/validation/path.ts'
import { ageColumn, nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'
import { checkAdminAccess, defaultClaimSpec } from './claim-defaults.ts'
import { validateClaimSpec } from './claim-validation.ts'

const specPath = Path.of('spec')

/** ResourceClaimTemplates: claims created for each pod. */
export const resourceclaimtemplates = defineResource<ResourceClaimTemplate>({
  ...kindNames.resourceclaimtemplates,
  nameRule: subdomainName,
  deleteAnswersObject: true,
  defaults({ spec }) {
    defaultClaimSpec(spec?.spec)
  },
  begin: (template, old, { reader }) => ({
    errors: old ? [] : checkAdminAccess(template.spec?.spec, template.metadata.namespace ?? '', reader),
    finish: () => {},
  }),
  validate: ({ spec }) => [
    ...validateLabels(spec?.metadata?.labels, specPath.child('metadata', 'labels')),
    ...validateAnnotations(spec?.metadata?.annotations, specPath.child('metadata', 'annotations')),
    ...validateClaimSpec(spec?.spec ?? {}, specPath.child('spec')),
  ],
  validateUpdate: (template, old) => validateImmutableField(template.spec, old.spec, specPath),
  columns: [nameColumn(), ageColumn()],
})
