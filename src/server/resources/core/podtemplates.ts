import { kindNames } from '../../../api/kind-names.ts'
import type { PodTemplate } from '../../../api/generated/types.ts'
import { deepEqual } from '../../../api/deep-equal.ts'
import {
  defaultPodTemplate,
  podTemplateWarnings,
  validatePodTemplateSpec,
} from '../../../api/kinds/pods/pod-template.ts'
import { subdomainName } from '../../../api/validation/names.ts'
import { Path } from '../../../api/validation/path.ts'
import { nameColumn } from '../../answers/columns.ts'
import { defineResource } from '../../registry/resource.ts'

const path = Path.of('template')

const labelsText = (labels: Record<string, string> | undefined): string =>
  Object.keys(labels ?? {})
    .sort()
    .map((key) => `${key}=${labels![key]}`)
    .join(',') || '<none>'

/** core/v1 PodTemplate. */
export const podtemplates = defineResource<PodTemplate>({
  ...kindNames.podtemplates,
  nameRule: subdomainName,

  defaults: (obj) => defaultPodTemplate(obj.template),
  validate: (obj) => validatePodTemplateSpec(obj.template, path),
  validateUpdate: (obj) => validatePodTemplateSpec(obj.template, path),
  warnings: (obj, old) =>
    old && deepEqual(obj.template, old.template) ? [] : podTemplateWarnings(obj.template, path, old?.template),

  generation: { changed: (obj, old) => !deepEqual(obj.template, old.template) },
  deleteAnswersObject: true,

  columns: [
    nameColumn(),
    {
      name: 'Containers',
      type: 'string',
      description: 'Names of each container in the template.',
      cell: (obj) => (obj.template.spec.containers ?? []).map((container) => container.name).join(','),
    },
    {
      name: 'Images',
      type: 'string',
      description: 'Images referenced by each container in the template.',
      cell: (obj) => (obj.template.spec.containers ?? []).map((container) => container.image ?? '').join(','),
    },
    {
      name: 'Pod Labels',
      type: 'string',
      description: 'The labels for the pod template.',
      cell: (obj) => labelsText(obj.template.metadata?.labels),
    },
  ],
})
