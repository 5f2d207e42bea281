/** What kubectl calls itself for each verb: an object that both write has one owner, not two that quarrel. */
export const FIELD_MANAGERS = {
  apply: 'kubectl-client-side-apply',
  serverSideApply: 'kubectl',
  lastApplied: 'kubectl-last-applied',
  create: 'kubectl-create',
  replace: 'kubectl-replace',
  edit: 'kubectl-edit',
  patch: 'kubectl-patch',
  label: 'kubectl-label',
  annotate: 'kubectl-annotate',
  scale: 'kubectl',
} as const;
