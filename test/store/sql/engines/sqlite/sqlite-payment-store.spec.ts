import { describeSqlStore } from '../../describe-sql-store.js';

describeSqlStore('SQLite');
